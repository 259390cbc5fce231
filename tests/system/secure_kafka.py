"""A real Apache Kafka that authenticates its clients: SASL_SSL (SCRAM, OAUTHBEARER), mutual TLS, and an
authorizer.

The tests' own clients are a super user on another listener, in plain text. All other clients need ACLs."""

import shlex

from certificates import Authority
from kafka_broker import Kafka
from places import free_port

PROPERTIES = """
listeners=PLAINTEXT://127.0.0.1:{kafka.port},CONTROLLER://127.0.0.1:{kafka.controller_port},\
SASL://127.0.0.1:{kafka.sasl_port},MTLS://127.0.0.1:{kafka.mtls_port}
advertised.listeners=PLAINTEXT://127.0.0.1:{kafka.port},SASL://127.0.0.1:{kafka.sasl_port},\
MTLS://127.0.0.1:{kafka.mtls_port}
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SASL:SASL_SSL,MTLS:SSL
listener.name.sasl.sasl.enabled.mechanisms=SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
listener.name.sasl.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.sasl.oauthbearer.sasl.jaas.config=\
org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="broker";
ssl.keystore.type=PEM
ssl.keystore.location={kafka.keystore}
ssl.truststore.type=PEM
ssl.truststore.location={kafka.authority.certificate}
listener.name.mtls.ssl.client.auth=required
listener.name.mtls.ssl.principal.mapping.rules=RULE:^CN=([^,]+).*$/$1/,DEFAULT
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:ANONYMOUS
"""


class SecureKafka(Kafka):
    """`users`: {name: password}, for both SCRAM mechanisms."""

    def __init__(self, directory, users):
        self.authority = Authority(directory)
        certificate, key = self.authority.sign("broker")
        self.keystore = directory / "broker.pem"
        self.keystore.write_text(
            key.read_text() + certificate.read_text() + self.authority.certificate.read_text()
        )
        self.sasl_port, self.mtls_port = free_port(), free_port()
        self.sasl, self.mtls = f"127.0.0.1:{self.sasl_port}", f"127.0.0.1:{self.mtls_port}"
        self.users, self.shell = users, None
        super().__init__(directory)

    def more_properties(self):
        return PROPERTIES.format(kafka=self)

    def format_arguments(self):
        return [
            argument
            for name, password in self.users.items()
            for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512")
            for argument in ("--add-scram", f"{mechanism}=[name={name},password={password}]")
        ]

    def start(self, wait=True):
        if self.shell is None:  # it compiles while Kafka starts
            self.shell = self.java_program("AclShell.java")
        super().start(wait)

    def stop(self):
        super().stop()
        if self.shell is not None:
            self.shell.kill()
            self.shell.wait()
            self.shell = None

    def acls(self, arguments):
        """Runs kafka-acls.sh with these arguments, against this broker and as the super user. Returns its
        output."""
        words = list(arguments)
        words[words.index("--bootstrap-server") + 1] = self.bootstrap
        self.shell.stdin.write("\t".join(words) + "\n")
        self.shell.stdin.flush()
        said = []
        for line in self.shell.stdout:
            said.append(line)
            if line.startswith("AclShell: "):
                assert line == "AclShell: done\n", "".join(said)
                return "".join(said)
        raise AssertionError(f"kafka-acls.sh ended: {''.join(said)}")

    def acl(self, what, principal, operation, resource, name):
        """`what`: add or remove."""
        words = ["--bootstrap-server", "", f"--{what}", *(["--force"] if what == "remove" else [])]
        who = ["--allow-principal", f"User:{principal}"]
        return self.acls([*words, *who, "--operation", operation, f"--{resource}", name])


def page_commands(text):
    """The commands kafka-acls.sh of a page, as lists of arguments. They are indented; a `\\` at the end
    continues a line."""
    lines = text.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[1:] for line in lines if line.startswith("    kafka-acls.sh ")]


def acls_of(arguments):
    """The ACLs that a command adds, as [(operation, resource, name)]."""
    pairs = [
        (word.removeprefix("--"), arguments[i + 1])
        for i, word in enumerate(arguments)
        if word.startswith("--") and i + 1 < len(arguments) and not arguments[i + 1].startswith("--")
    ]
    names = [(option, value) for option, value in pairs if option in ("topic", "group")]
    return [
        (operation, resource, name)
        for option, operation in pairs
        if option == "operation"
        for resource, name in names
    ]
