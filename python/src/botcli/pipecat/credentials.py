"""Credentials of phone carriers, under the names that the library reads."""

from __future__ import annotations

from collections.abc import MutableMapping

#: Our name, and the library's for the same.
_NAMES = {
    "TELEPHONY_A_ACCOUNT_ID": "TWILIO_ACCOUNT_SID",
    "TELEPHONY_A_AUTH_TOKEN": "TWILIO_AUTH_TOKEN",
    "TELEPHONY_B_API_KEY": "TELNYX_API_KEY",
    "TELEPHONY_C_AUTH_ID": "PLIVO_AUTH_ID",
    "TELEPHONY_C_AUTH_TOKEN": "PLIVO_AUTH_TOKEN",
}
#: The library refuses to have both, so what the user has set for it alone stays alone.
_INSTEAD = {"TWILIO_AUTH_TOKEN": "TWILIO_API_KEY"}


def lend_credentials(env: MutableMapping[str, str]) -> None:
    """Sets the library's variables from ours where they are not set, so that nothing is configured twice."""
    for ours, theirs in _NAMES.items():
        value = env.get(ours)
        if value and not env.get(theirs) and not env.get(_INSTEAD.get(theirs, theirs)):
            env[theirs] = value
