"""Certificates for the tests, made with openssl. A test may use a CA that the daemons trust and another
CA."""

import datetime
import subprocess

CA_CONFIG = """
[req]
distinguished_name = name
[name]
[ca]
basicConstraints = critical, CA:true
keyUsage = critical, keyCertSign, cRLSign
[leaf]
subjectAltName = IP:127.0.0.1, DNS:localhost
[authority]
database = {directory}/{name}.signed
unique_subject = no
rand_serial = yes
new_certs_dir = {directory}
default_md = sha256
policy = any
[any]
commonName = supplied
"""


NEW_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"


class Authority:
    def __init__(self, directory, name="ca"):
        self.directory = directory
        self.certificate, self.key = directory / f"{name}.crt", directory / f"{name}.key"
        self.config = directory / f"{name}.cnf"
        self.config.write_text(CA_CONFIG.format(directory=directory, name=name))
        (directory / f"{name}.signed").touch()
        self._openssl(
            f"req -x509 {NEW_KEY} -days 30 -extensions ca -subj",
            *(f"/CN=seen test {name}", "-config", self.config, "-keyout", self.key, "-out", self.certificate),
        )

    def _openssl(self, words, *arguments):
        command = ["openssl", *words.split(), *map(str, arguments)]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def sign(self, name, days=30, password=None):
        """(certificate, key) as PEM files. The certificate has CN=name and is valid for 127.0.0.1."""
        key, request, certificate = (self.directory / f"{name}.{end}" for end in ("key", "csr", "crt"))
        config = ("-config", self.config)
        self._openssl(f"req {NEW_KEY} -subj", f"/CN={name}", *config, "-keyout", key, "-out", request)
        # Negative `days` make a certificate that has expired. `openssl x509 -days` refuses that since 3.5.
        now = datetime.datetime.now(datetime.timezone.utc)
        begin, end = (
            f"{now + datetime.timedelta(days=day):%Y%m%d%H%M%SZ}" for day in (min(0, days) - 1, days)
        )
        ca = ("-cert", self.certificate, "-keyfile", self.key, "-in", request, "-out", certificate)
        self._openssl(
            f"ca -batch -notext -name authority -extensions leaf -startdate {begin} -enddate {end}",
            *config,
            *ca,
        )
        if password:
            locked = key.with_suffix(".locked")
            protect = ("-in", key, "-out", locked, "-passout", f"pass:{password}")
            self._openssl("pkcs8 -topk8 -v2 aes256", *protect)
            key = locked
        return certificate, key

    def access(self, name, days=30):
        """`access` of a daemon's configuration. This authority signs the certificate, and the daemon trusts
        this authority."""
        certificate, key = self.sign(name, days)
        return {"certificate": str(certificate), "key": str(key), "ca": str(self.certificate)}
