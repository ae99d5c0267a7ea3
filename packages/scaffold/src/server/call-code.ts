import type { Imports } from './python/imports.ts'
import type { CallFlow, Traits } from './traits.ts'
import { CARRIER_A_API_URL } from './variables.ts'

/** Functions of `bot.py` that bring phone calls into its room. */
export function callHelpers({ callFlow }: Traits, imports: Imports): readonly string[] {
  if (callFlow === undefined) return []
  if (callFlow.mode === 'dial-out') return [target(callFlow, imports), dialOut(imports)]
  return callFlow.by === 'sip' ? [forwardCall(imports)] : []
}

/** What `run_bot` does about the phone call. */
export function callHandlers({ callFlow }: Traits, imports: Imports): readonly string[] {
  if (callFlow === undefined) return []
  imports.from('pipecat.transports.daily.transport', 'DailyTransport')
  if (callFlow.mode === 'dial-out') return [DIAL_OUT]
  return callFlow.by === 'pstn' ? [pstnDialIn(imports)] : [SIP_DIAL_IN]
}

const DIAL_OUT = `    target = dialout_target(args.body)
    if target is not None and isinstance(transport, DailyTransport):
        dial_out(transport, target, runner)
`

function target({ by }: CallFlow, imports: Imports): string {
  imports.from('typing', 'Any')
  if (by === 'sip') {
    return `def dialout_target(body: dict[str, Any]) -> dict[str, Any] | None:
    """Whom to call; nobody, where the session was not started by server.py."""
    settings = body.get("dialout_settings")
    return None if settings is None else {"sipUri": settings["sip_uri"]}
`
  }
  return `def dialout_target(body: dict[str, Any]) -> dict[str, Any] | None:
    """Whom to call; nobody, where the session was not started by server.py."""
    settings = body.get("dialout_settings")
    if settings is None:
        return None
    target = {"phoneNumber": settings["phone_number"]}
    if settings.get("caller_id"):
        # The id of a number that you have at the room provider.
        target["callerId"] = settings["caller_id"]
    return target
`
}

function dialOut(imports: Imports): string {
  imports.module('asyncio').from('typing', 'Any')
  return `def dial_out(transport: DailyTransport, target: dict[str, Any], runner: WorkerRunner) -> None:
    """Calls somebody once the bot is in its room, and again when that fails."""
    attempts = 0
    answered = False

    async def attempt() -> None:
        nonlocal attempts
        attempts += 1
        logger.info(f"Calling, attempt {attempts} of {MAX_ATTEMPTS}")
        _, error = await transport.start_dialout(target)
        if error:
            await failed(error)

    async def failed(reason: Any) -> None:
        logger.error(f"The call failed: {reason}")
        if answered or attempts >= MAX_ATTEMPTS:
            await runner.cancel()
        else:
            await asyncio.sleep(ATTEMPT_PAUSE)
            await attempt()

    @transport.event_handler("on_joined")
    async def on_joined(transport, data):
        await attempt()

    @transport.event_handler("on_dialout_answered")
    async def on_dialout_answered(transport, data):
        nonlocal answered
        answered = True

    @transport.event_handler("on_dialout_error")
    async def on_dialout_error(transport, data):
        await failed(data)

    @transport.event_handler("on_dialout_stopped")
    async def on_dialout_stopped(transport, data):
        await runner.cancel()
`
}

function pstnDialIn(imports: Imports): string {
  imports.from('botcli', 'DialinRequest')
  return `    if isinstance(transport, DailyTransport) and "dialin_settings" in args.body:
        call = DialinRequest.from_body(args.body).dialin_settings
        logger.info(f"Call {call.call_id}")

        @transport.event_handler("on_dialin_error")
        async def on_dialin_error(transport, data):
            logger.error(f"The call could not be taken: {data}")
            await runner.cancel()
`
}

const SIP_DIAL_IN = `    call_sid = args.body.get("call_sid")
    if isinstance(transport, DailyTransport) and call_sid is not None:

        @transport.event_handler("on_dialin_ready")
        async def on_dialin_ready(transport, sip_endpoint: str):
            try:
                await forward_call(call_sid, sip_endpoint)
            except (aiohttp.ClientError, TimeoutError) as error:
                logger.error(f"The call could not be put through: {error}")
                await runner.cancel()

        @transport.event_handler("on_dialin_error")
        async def on_dialin_error(transport, data):
            logger.error(f"The call could not be taken: {data}")
            await runner.cancel()
`

function forwardCall(imports: Imports): string {
  imports.module('aiohttp').from('settings', 'either', 'required').from('xml.sax.saxutils', 'escape')
  return `async def forward_call(call_sid: str, sip_endpoint: str) -> None:
    """Puts a call that waits at the carrier through to the room."""
    address = sip_endpoint if sip_endpoint.startswith("sip:") else f"sip:{sip_endpoint}"
    account = required("TELEPHONY_A_ACCOUNT_ID")
    api = either("TELEPHONY_A_API_URL", "${CARRIER_A_API_URL}")
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        await session.post(
            f"{api}/Accounts/{account}/Calls/{call_sid}.json",
            auth=aiohttp.BasicAuth(account, required("TELEPHONY_A_AUTH_TOKEN")),
            data={"Twiml": f"<Response><Dial><Sip>{escape(address)}</Sip></Dial></Response>"},
            timeout=aiohttp.ClientTimeout(total=10),
        )
`
}
