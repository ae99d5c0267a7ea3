"""A pipeline of pipecat-ai on our own transport."""

from assistant import converse
from botcli import TRANSPORT_IDS, RunnerArguments, create_transport, main
from pipecat.evals.transport import EvalTransportParams
from pipecat.transports.base_transport import TransportParams


def params() -> TransportParams:
    return TransportParams(audio_in_enabled=True, audio_out_enabled=True)


def eval_params() -> EvalTransportParams:
    return EvalTransportParams(audio_in_enabled=True, audio_out_enabled=True)


async def bot(args: RunnerArguments) -> None:
    factories = {transport: params for transport in TRANSPORT_IDS}
    await converse(await create_transport(args, {**factories, "eval": eval_params}), args)


if __name__ == "__main__":
    main()
