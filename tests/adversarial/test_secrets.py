"""Thirty kinds of secrets, in every carrier, are not in what `--redact` leaves of a line."""

from __future__ import annotations

import json

import pytest
from assay.ingest.redact.secrets import replaced

BODY = "Qw3rTy7UiOpAsDfGhJkLzXcVbNm1Q2w3E4r5T6y7U8i9"
HEX = "deadbeef0123456789abcdef01234567"

KINDS = {
    "Hugging Face token": f"hf_{BODY[:34]}",
    "AWS key id": "AKIAQWERTYUIOPASDFGH",
    "AWS session key id": "ASIAQWERTYUIOPASDFGH",
    "GitHub token": f"ghp_{BODY[:36]}",
    "GitHub app token": f"ghs_{BODY[:36]}",
    "GitHub fine token": f"github_pat_{BODY}",
    "GitLab token": f"glpat-{BODY[:20]}",
    "OpenAI key": f"sk-{BODY}",
    "OpenAI project key": f"sk-proj-{BODY}",
    "Anthropic key": f"sk-ant-api03-{BODY}",
    "Slack token": f"xoxb-123456789012-{BODY[:24]}",
    "Slack app token": f"xapp-1-A123-{BODY[:24]}",
    "Slack hook": f"https://hooks.slack.com/services/T0000/B0000/{BODY[:24]}",
    "Google key": f"AIza{BODY[:35]}",
    "Google token": f"ya29.{BODY}",
    "wandb key": f"{HEX}deadbeef",
    "wandb new key": f"wandb_v1_{BODY}",
    "NGC key": f"nvapi-{BODY}",
    "npm token": f"npm_{BODY[:36]}",
    "PyPI token": f"pypi-AgEIcHlwaS5vcmc{BODY}",
    "DigitalOcean token": f"dop_v1_{HEX}{HEX}",
    "Stripe key": f"sk_live_{BODY[:24]}",
    "SendGrid key": f"SG.{BODY[:22]}.{BODY[:43]}",
    "Telegram bot": f"123456789:AA{BODY[:33]}",
    "Docker token": f"dckr_pat_{BODY[:27]}",
    "Vault token": f"hvs.{BODY}",
    "Databricks token": f"dapi{HEX}",
    "Age key": "AGE-SECRET-KEY-1QWERTYUIOPASDFGHJKLZXCVBNMQWERTYUIOPASDFGHJKLZXCVBNMQWERT",
    "JSON web token": f"eyJhbGciOiJIUzI1NiJ9.{BODY[:30]}.{BODY[:40]}",
    "SSH key": f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5{BODY}",
    "private key": f"-----BEGIN OPENSSH PRIVATE KEY-----{BODY}-----END OPENSSH PRIVATE KEY-----",
    "Azure signature": f"https://x.blob.core.windows.net/b/c?sv=2022&sig={BODY[:40]}%3D",
    "AWS signature": f"https://b.s3.amazonaws.com/k?X-Amz-Signature={HEX}{HEX}",
}

CARRIERS = {
    "line": " iteration 5/ 10 | note: {} | lm loss: 1.5 |",
    "argument": "  checkpoint_remote ............................... {}",
    "flag": "torchrun train.py --remote {} --lr 3e-4",
    "environment": "REMOTE_STORE={}",
    "assignment": "export REMOTE='{}'",
    "JSON": '{{"remote": "{}", "lr": 0.1}}',
    "notebook": '  "os.environ[\\"REMOTE\\"] = \\"{}\\"\\n",',
    "table": "| 8 | {} | 10.5 |",
    "trace": '{{"ph": "X", "name": "load {}", "ts": 1}}',
    "file name": "run-{}.log:4:2: syntax",
}


def stars(_kind: str, _found: str) -> str:
    return "***"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("carrier", CARRIERS)
def test_no_secret_is_left(kind: str, carrier: str) -> None:
    secret = KINDS[kind]
    if carrier == "file name" and "/" in secret:
        pytest.skip("no file is called so")
    left = replaced(CARRIERS[carrier].format(secret), stars)
    core = (BODY[:20], HEX, "QWERTYUIOPASDFGH")
    assert not any(part in left for part in core), left


@pytest.mark.parametrize("carrier", ["JSON", "trace"])
def test_what_carries_them_stays_whole(carrier: str) -> None:
    for secret in KINDS.values():
        json.loads(replaced(CARRIERS[carrier].format(secret), stars))
