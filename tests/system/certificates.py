"""Certificates for the tests, made by openssl: a CA, what it signs, and another CA that nobody trusts."""

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
"""


class Authority:
    def __init__(self, directory, name="ca"):
        self.directory, self.certificate, self.key = directory, directory / f"{name}.crt", directory / f"{name}.key"
        self.config = directory / f"{name}.cnf"
        self.config.write_text(CA_CONFIG)
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                      "-subj", f"/CN=seen test {name}", "-config", self.config, "-extensions", "ca",
                      "-keyout", self.key, "-out", self.certificate)

    def _openssl(self, *arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True, timeout=60)

    def sign(self, name, days=30, password=None):
        """(certificate, key) as PEM files; the certificate is the name's, CN=name, and of 127.0.0.1."""
        key, request, certificate = (self.directory / f"{name}.{end}" for end in ("key", "csr", "crt"))
        self._openssl("req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                      f"/CN={name}", "-config", self.config, "-keyout", key, "-out", request)
        # A negative number of days is one that has expired.
        self._openssl("x509", "-req", "-in", request, "-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial",
                      "-days", days, "-extfile", self.config, "-extensions", "leaf", "-out",
                      certificate)
        if password:
            self._openssl("pkcs8", "-topk8", "-in", key, "-out", key.with_suffix(".locked"), "-v2", "aes256",
                          "-passout", f"pass:{password}")
            key = key.with_suffix(".locked")
        return certificate, key

    def access(self, name, days=30):
        """A daemon's `access` with a certificate of this authority's; it trusts the others' that have one."""
        certificate, key = self.sign(name, days)
        return {"certificate": str(certificate), "key": str(key), "ca": str(self.certificate)}
