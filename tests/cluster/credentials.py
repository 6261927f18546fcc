"""Keys, certificates, tokens and the kubeconfig of one test server."""

import base64
import json
import secrets
import subprocess
from pathlib import Path

# context -> (user, groups, how it authenticates)
USERS = {
    "admin": ("admin", "system:masters", "token"),
    "limited": ("limited", "", "token"),  # authenticated, but RBAC grants it nothing of use
    "admin-cert": ("admin-cert", "system:masters", "certificate"),
}
SERVER_NAMES = (
    "IP:127.0.0.1,DNS:localhost,DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc"
)


def create(certs: Path) -> None:
    """A private authority, not the server's self-signed default: that one lacks "localhost"."""
    certs.mkdir(parents=True)
    certs.chmod(0o700)
    _key(certs / "ca.key")
    extensions = ["-addext", "basicConstraints=critical,CA:TRUE"]
    extensions += ["-addext", "keyUsage=critical,keyCertSign,cRLSign"]
    _openssl(certs, "req", "-x509", "-new", "-key", "ca.key", "-out", "ca.crt", "-days", "30",
             "-subj", "/CN=amdahl-test-ca", *extensions)
    issue(certs, "server", "/CN=kube-apiserver", f"subjectAltName={SERVER_NAMES}\n"
          "extendedKeyUsage=serverAuth\n")
    # The service-account key signs tokens: RSA, because that is what clusters use.
    _openssl(certs, "genrsa", "-out", "sa.key", "2048")
    _openssl(certs, "rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")
    tokens = {}
    for context, (user, group, kind) in USERS.items():
        if kind == "certificate":
            issue(certs, context, f"/O={group}/CN={user}", "extendedKeyUsage=clientAuth\n")
        else:
            tokens[context] = secrets.token_hex(16)
    rows = [f'{token},{USERS[c][0]},{USERS[c][0]},"{USERS[c][1]}"' for c, token in tokens.items()]
    (certs / "tokens.csv").write_text("\n".join(rows) + "\n")
    (certs / "tokens.json").write_text(json.dumps(tokens))


def tokens(certs: Path) -> dict[str, str]:
    """context -> bearer token."""
    return json.loads((certs / "tokens.json").read_text())


def issue(certs: Path, name: str, subject: str, extensions: str) -> None:
    """NAME.key and NAME.crt, signed by the cluster's authority."""
    _key(certs / f"{name}.key")
    (certs / f"{name}.ext").write_text(extensions)
    _openssl(certs, "req", "-new", "-key", f"{name}.key", "-subj", subject, "-out", f"{name}.csr")
    _openssl(certs, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
             "-CAcreateserial", "-days", "30", "-extfile", f"{name}.ext", "-out", f"{name}.crt")


def write_kubeconfig(path: Path, certs: Path, server: str) -> None:
    lines = [
        "apiVersion: v1",
        "kind: Config",
        "current-context: admin",
        "preferences: {}",
        "clusters:",
        "- name: amdahl-test",
        "  cluster:",
        f"    server: {server}",
        f"    certificate-authority-data: {_data(certs / 'ca.crt')}",
        "contexts:",
    ]
    for context in USERS:
        lines += [f"- name: {context}", "  context:", "    cluster: amdahl-test"]
        lines += [f"    user: {context}", "    namespace: default"]
    lines.append("users:")
    secret = tokens(certs)
    for context, (_, _, kind) in USERS.items():
        lines += [f"- name: {context}", "  user:"]
        if kind == "token":
            lines.append(f"    token: {secret[context]}")
        else:
            lines.append(f"    client-certificate-data: {_data(certs / f'{context}.crt')}")
            lines.append(f"    client-key-data: {_data(certs / f'{context}.key')}")
    path.touch(mode=0o600)
    path.write_text("\n".join(lines) + "\n")


def _key(path: Path) -> None:
    _openssl(path.parent, "ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", path.name)


def _openssl(folder: Path, *args: str) -> None:
    done = subprocess.run(["openssl", *args], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"openssl {args[0]} failed: {done.stderr}")


def _data(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
