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


class Authority:
    def __init__(self, directory, name="ca"):
        self.directory, self.certificate, self.key = (
            directory,
            directory / f"{name}.crt",
            directory / f"{name}.key",
        )
        self.config = directory / f"{name}.cnf"
        self.config.write_text(CA_CONFIG.format(directory=directory, name=name))
        (directory / f"{name}.signed").touch()
        self._openssl(
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "30",
            "-subj",
            f"/CN=seen test {name}",
            "-config",
            self.config,
            "-extensions",
            "ca",
            "-keyout",
            self.key,
            "-out",
            self.certificate,
        )

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)

    def sign(self, name, days=30, password=None):
        """(certificate, key) as PEM files. The certificate has CN=name and is valid for 127.0.0.1."""
        key, request, certificate = (self.directory / f"{name}.{end}" for end in ("key", "csr", "crt"))
        self._openssl(
            "req",
            "-new",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            f"/CN={name}",
            "-config",
            self.config,
            "-keyout",
            key,
            "-out",
            request,
        )
        # Negative `days` make a certificate that has expired. `openssl x509 -days` refuses that since 3.5.
        now = datetime.datetime.now(datetime.timezone.utc)
        begin, end = (
            f"{now + datetime.timedelta(days=day):%Y%m%d%H%M%SZ}" for day in (min(0, days) - 1, days)
        )
        self._openssl(
            "ca",
            "-batch",
            "-notext",
            "-config",
            self.config,
            "-name",
            "authority",
            "-cert",
            self.certificate,
            "-keyfile",
            self.key,
            "-in",
            request,
            "-startdate",
            begin,
            "-enddate",
            end,
            "-extensions",
            "leaf",
            "-out",
            certificate,
        )
        if password:
            self._openssl(
                "pkcs8",
                "-topk8",
                "-in",
                key,
                "-out",
                key.with_suffix(".locked"),
                "-v2",
                "aes256",
                "-passout",
                f"pass:{password}",
            )
            key = key.with_suffix(".locked")
        return certificate, key

    def access(self, name, days=30):
        """`access` of a daemon's configuration. This authority signs the certificate, and the daemon trusts
        this authority."""
        certificate, key = self.sign(name, days)
        return {"certificate": str(certificate), "key": str(key), "ca": str(self.certificate)}
