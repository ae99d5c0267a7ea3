"""Repeats what its caller says, over the socket that pipecat-ai's own runner would give it."""

from pipecat.runner.types import RunnerArguments, WebSocketRunnerArguments
from starlette.websockets import WebSocketDisconnect


async def bot(args: RunnerArguments) -> None:
    assert isinstance(args, WebSocketRunnerArguments)
    print("called from", args.websocket.client.host, flush=True)
    try:
        while True:
            await args.websocket.send_text(await args.websocket.receive_text())
    except WebSocketDisconnect:
        print("alone", flush=True)


if __name__ == "__main__":
    from pipecat.runner.run import main

    main()
