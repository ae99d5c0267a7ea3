from __future__ import annotations

import unittest
from typing import Any

from support.host import Host
from support.session import SessionTest

from botcli.errors import BotError
from botcli.guest.guest import Guest
from botcli.passed_peer import PassedPeer
from botcli.session_port import session_of


def peer_of(args: Any) -> PassedPeer:
    session = session_of(args)
    assert session is not None and session.peer is not None
    return session.peer


class PassedPeerTest(SessionTest):
    async def run_bot(self, bot: Any, **start: Any) -> tuple[Host, Guest]:
        host, guest = await self.guest(grace_s=2.0)
        guest.ready(bot)
        host.send(
            "start",
            start={"sessionId": "s", "transport": "webrtc", "body": {}, "passThrough": True, **start},
        )
        return host, guest

    async def test_offers_and_candidates_come_in_their_order(self) -> None:
        seen: list[Any] = []

        async def bot(args: Any) -> None:
            peer = peer_of(args)
            async for signal in peer.signals():
                seen.append(signal)
                if len(seen) == 1:
                    peer.answer(signal, "answer", "pc-1")  # type: ignore[arg-type]
                elif len(seen) == 3:
                    peer.refuse(signal, BotError("invalid_params", "no"))  # type: ignore[arg-type]
                    peer.state("closed")

        host, _ = await self.run_bot(bot)
        host.send("offer", id=7, sdp="v=0", restart=False)
        host.send("candidates", candidates=[{"candidate": "", "mid": "0"}, {"candidate": "c", "mid": "1"}])
        host.send("offer", id=8, sdp="v=1", restart=True)
        await host.message("peer")
        answers = [m for m in host.messages if m["type"] == "answer"]
        self.assertEqual(answers[0], {"type": "answer", "id": 7, "sdp": "answer", "pcId": "pc-1"})
        self.assertEqual(answers[1]["id"], 8)
        self.assertEqual((answers[1]["error"]["name"], answers[1]["error"]["message"]), ("BotError", "no"))
        self.assertEqual([c.mid for c in seen[1].candidates], ["0", "1"])
        self.assertEqual((seen[2].sdp, seen[2].restart), ("v=1", True))
        host.cancel()
        self.assertEqual((await host.message("end"))["outcome"], "returned")


if __name__ == "__main__":
    unittest.main()
