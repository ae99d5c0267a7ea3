"""Applications of the real web framework, which comes with the library's own runner."""

from __future__ import annotations

import json
import unittest
from typing import Any

import playing_host  # noqa: F401  (makes our package importable)
from support.host import Host
from support.process import GuestProcess

APP = """
    import asyncio
    from fastapi import BackgroundTasks, FastAPI, Request
    from fastapi.responses import RedirectResponse, StreamingResponse
    from pydantic import BaseModel
    from botcli import asgi, serve

    app = FastAPI()
    seen = []
    go = asyncio.Event()


    class Note(BaseModel):
        text: str


    @app.middleware("http")
    async def name_it(request: Request, call_next):
        response = await call_next(request)
        response.headers["x-served-by"] = "a bot"
        return response


    @app.post("/notes/{name}", status_code=201)
    async def add(name: str, note: Note, request: Request, loud: bool = False):
        return {"name": name, "text": note.text.upper() if loud else note.text, "agent": request.headers["user-agent"]}


    @app.get("/thread")
    def in_a_thread():
        return "from a thread"


    @app.get("/stream")
    async def stream():
        async def pieces():
            for number in range(3):
                await asyncio.sleep(0.01)
                yield f"{number} "

        return StreamingResponse(pieces(), media_type="text/plain")


    @app.get("/later", status_code=204)
    async def later(tasks: BackgroundTasks):
        tasks.add_task(work)


    async def work():
        await go.wait()
        seen.append("worked")


    @app.get("/go")
    async def let_go():
        go.set()


    @app.get("/seen")
    async def what_was_seen(request: Request):
        return [seen, await request.is_disconnected()]


    @app.get("/fail")
    async def fail():
        raise ValueError("in the endpoint")


    @app.get("/away")
    async def away():
        return RedirectResponse("https://example.com/")
"""
OURS = f"""{APP}

    async def bot(args):
        serve(args, asgi(app))
        await asyncio.sleep(1000)
"""
FOREIGN = f"""
    from pipecat.runner.types import RunnerArguments, WebSocketRunnerArguments
    {APP.lstrip()}

    async def bot(args: RunnerArguments):
        assert isinstance(args, WebSocketRunnerArguments)
        serve(args, asgi(app))
        await asyncio.sleep(1000)
"""


class FastApiTest(unittest.IsolatedAsyncioTestCase):
    async def start(self, bot: str, **start: Any) -> tuple[GuestProcess, Host]:
        guest, sock = await GuestProcess.start(bot)
        self.addAsyncCleanup(guest.close)
        host = await Host.on(sock)
        self.addAsyncCleanup(host.close)
        self.assertEqual((await host.message("ready")).get("passThrough", False), bot is FOREIGN)
        host.start(**start)
        await host.message("serving")
        return guest, host

    async def leave(self, guest: GuestProcess, host: Host) -> str:
        """The caller leaves; gives what was written to standard error."""
        host.cancel(300)
        self.assertEqual(await host.message("end"), {"type": "end", "outcome": "returned"})
        await host.close()
        code, _, errors = await guest.exit()
        self.assertEqual(code, 0, errors)
        return errors

    async def test_answers_as_behind_a_server(self) -> None:
        guest, host = await self.start(OURS)
        note = json.dumps({"text": "milk"}).encode()
        headers = {"user_agent": "me", "content_type": "application/json"}
        host.ask(1, "/notes/caf%C3%A9", method="POST", query="?loud=1", body=note, **headers)
        host.ask(2, "/notes/x", method="POST", body=b"{}", content_type="application/json")
        host.ask(3, "/thread")
        host.ask(4, "/stream")
        host.ask(5, "/nowhere")
        host.ask(6, "/away")
        host.ask(7, "/openapi.json")
        host.ask(8, "/later")
        answers = {id: await host.answer(id) for id in range(1, 9)}
        self.assertEqual([answer.error for answer in answers.values()], [None] * 8)
        self.assertEqual([answer.status for answer in answers.values()], [201, 422, 200, 200, 404, 307, 200, 204])
        self.assertTrue(all(["x-served-by", "a bot"] in answer.headers for answer in answers.values()))
        self.assertEqual(json.loads(answers[1].body), {"name": "café", "text": "MILK", "agent": "me"})
        self.assertEqual((answers[3].body, answers[4].body), (b'"from a thread"', b"0 1 2 "))
        self.assertIn(["location", "https://example.com/"], answers[6].headers)
        self.assertIn("/notes/{name}", json.loads(answers[7].body)["paths"])
        self.assertEqual(await self.leave(guest, host), "")

    async def test_what_it_does_after_an_answer_goes_on(self) -> None:
        guest, host = await self.start(OURS)
        host.ask(1, "/later")
        self.assertEqual((await host.answer(1)).status, 204)
        host.ask(2, "/seen")
        self.assertEqual(json.loads((await host.answer(2)).body), [[], False])
        host.ask(3, "/go")
        await host.answer(3)
        host.ask(4, "/seen")
        self.assertEqual(json.loads((await host.answer(4)).body), [["worked"], False])
        self.assertEqual(await self.leave(guest, host), "")

    async def test_an_endpoint_that_fails_is_500_as_everywhere_with_its_traceback_in_the_log(self) -> None:
        guest, host = await self.start(OURS)
        host.ask(1, "/fail")
        answer = await host.answer(1)
        self.assertEqual((answer.status, answer.body), (500, b"Internal Server Error"))
        errors = await self.leave(guest, host)
        self.assertRegex(errors, r"(?s)Traceback.*in fail\n.*ValueError: in the endpoint\n")
        self.assertNotIn("asgi_app.py", errors)

    async def test_a_bot_for_the_librarys_own_runner_serves_too(self) -> None:
        websocket = {"path": "/ws", "remoteAddress": "::1", "headers": {}}
        guest, host = await self.start(FOREIGN, transport="websocket", websocket=websocket, passThrough=True)
        host.ask(1, "/thread")
        self.assertEqual((await host.answer(1)).body, b'"from a thread"')
        await self.leave(guest, host)


if __name__ == "__main__":
    unittest.main()
