import { Imports } from './python/imports.ts'
import type { CallFlow } from './traits.ts'
import { CALL_SERVER_HOST, CALL_SERVER_PORT, START_URL } from './variables.ts'

/** `server.py`: takes requests for calls and starts a bot for each, in a room that the runner makes. */
export function callServer(flow: CallFlow): string {
  const imports = new Imports()
    .module('aiohttp')
    .from('typing', 'Any')
    .from('aiohttp', 'web')
    .from('loguru', 'logger')
    .module('sys')
    .from('settings', 'MissingSettings', 'check_settings', 'either', 'optional')
  const dialIn = flow.mode === 'dial-in'
  if (dialIn) {
    imports
      .module('base64')
      .module('hashlib')
      .module('hmac')
      .from('urllib.parse', 'parse_qsl')
      .from('settings', 'required')
  } else {
    imports.module('hmac').module('re')
  }
  return `"""${dialIn ? DIAL_IN_DOC : flow.by === 'pstn' ? PSTN_OUT_DOC : SIP_OUT_DOC}"""

${imports.render()}
SESSION = web.AppKey("session", aiohttp.ClientSession)
${dialIn ? DIAL_IN_CONSTANTS : flow.by === 'pstn' ? PSTN_OUT_CONSTANTS : SIP_OUT_CONSTANTS}

async def start_bot(app: web.Application, room: dict[str, Any], body: dict[str, Any]) -> str:
    """Has the runner make a room and send a bot there. Gives the id of the session."""
    request = {"transport": "room", "createRoom": True, "roomProperties": room, "body": body}
    key = optional("BOT_START_KEY")
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    url = either("BOT_START_URL", "${START_URL}")
    try:
        async with app[SESSION].post(url, json=request, headers=headers) as response:
            if response.status != 200:
                text = f"{url} answered {response.status}: {await response.text()}"
                raise web.HTTPBadGateway(text=text)
            answer = await response.json()
    except (aiohttp.ClientConnectionError, TimeoutError) as error:
        text = f"no answer from {url}; does \`botcli run\` run?"
        raise web.HTTPBadGateway(text=text) from error
    return answer["sessionId"]


${dialIn ? DIAL_IN_ROUTE : dialOutRoute(flow)}

async def health(request: web.Request) -> web.Response:
    """Tells that this server is up."""
    return web.json_response({"status": "ready"})


async def open_session(app: web.Application):
    """One HTTP session for as long as the server runs."""
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
        app[SESSION] = session
        yield


def make_app() -> web.Application:
    """The server, ready to be run."""
    app = web.Application()
    app.cleanup_ctx.append(open_session)
    app.router.add_get("/health", health)
    app.router.add_post("${dialIn ? '/call", take_call' : '/dialout", dial_out'})
    return app


def main() -> None:
    """Runs the server until it is stopped."""
    try:
        if optional("BOT_START_URL") is None:
            # The bot runs on this machine, with the same settings.
            check_settings()
${dialIn ? DIAL_IN_CHECK : ''}    except MissingSettings as error:
        sys.exit(str(error))
    host = either("CALL_SERVER_HOST", "${CALL_SERVER_HOST}")
    port = either("CALL_SERVER_PORT", "${CALL_SERVER_PORT}")
    try:
        web.run_app(make_app(), host=host, port=int(port))
    except (OSError, OverflowError, ValueError) as error:
        sys.exit(f"cannot listen on {host}, port {port}; CALL_SERVER_PORT takes another: {error}")


if __name__ == "__main__":
    main()
`
}

const DIAL_IN_DOC = `Takes calls to a phone number and starts a bot for each.

The carrier asks \`POST /call\` what to do with a call. The caller waits until the bot, in a room
of its own, has the call put through to it.
`
const PSTN_OUT_DOC = `Starts phone calls.

\`POST /dialout\` with \`{"phone_number": "+15551234567"}\` starts a bot, which calls that number.
\`caller_id\`, the id of a number of yours at the room provider, is optional.
`
const SIP_OUT_DOC = `Starts phone calls.

\`POST /dialout\` with \`{"sip_uri": "sip:+15551234567@my-domain.sip.twilio.com"}\` starts a bot,
which calls that address. The carrier's SIP domain puts the call through to the phone.
`

const DIAL_IN_CONSTANTS = `#: What the carrier does until the bot has the call put through.
WAIT = '<Response><Say>One moment, please.</Say><Pause length="60"/></Response>'
`
const DIAL_IN_CHECK = `        check_settings("TELEPHONY_A_AUTH_TOKEN")
`
const PSTN_OUT_CONSTANTS = `PHONE_NUMBER = re.compile(r"\\+[1-9][0-9]{5,14}")
`
const SIP_OUT_CONSTANTS = `SIP_URI = re.compile(r"sips?:[^@\\s]+@[^@\\s]+")
`

const DIAL_IN_ROUTE = `def is_signed(request: web.Request, fields: list[tuple[str, str]]) -> bool:
    """Whether the carrier has sent this: it signs the address that it called and all fields."""
    text = f"https://{request.host}{request.path_qs}"
    text += "".join(name + value for name, value in sorted(fields))
    key = required("TELEPHONY_A_AUTH_TOKEN").encode()
    expected = base64.b64encode(hmac.new(key, text.encode(), hashlib.sha1).digest())
    given = request.headers.get("X-Twilio-Signature", "").encode(errors="replace")
    return hmac.compare_digest(expected, given)


async def take_call(request: web.Request) -> web.Response:
    """Starts a bot for a call, and lets the caller wait for it."""
    fields = parse_qsl(await request.text(), keep_blank_values=True)
    if not is_signed(request, fields):
        raise web.HTTPForbidden(text="this is not signed by the carrier")
    call = dict(fields)
    if "CallSid" not in call:
        raise web.HTTPBadRequest(text="CallSid is missing")
    caller = call.get("From", "unknown")
    sip = {"display_name": caller, "sip_mode": "dial-in", "num_endpoints": 1, "video": False}
    session_id = await start_bot(
        request.app,
        {"start_video_off": True, "sip": sip},
        {"call_sid": call["CallSid"], "from": caller, "to": call.get("To")},
    )
    logger.info(f"Session {session_id} has a call")
    return web.Response(text=WAIT, content_type="text/xml")
`

function dialOutRoute({ by }: CallFlow): string {
  const pstn = by === 'pstn'
  return `def is_allowed(request: web.Request) -> bool:
    """Calls cost money: with DIALOUT_TOKEN, only who knows it may start them."""
    token = optional("DIALOUT_TOKEN")
    given = request.headers.get("Authorization", "").encode(errors="replace")
    return token is None or hmac.compare_digest(given, f"Bearer {token}".encode())


async def dial_out(request: web.Request) -> web.Response:
    """Starts a bot that calls somebody."""
    if not is_allowed(request):
        raise web.HTTPUnauthorized(text="the bearer token is missing or wrong")
    try:
        wish = await request.json()
    except ValueError as error:
        raise web.HTTPBadRequest(text="the body must be JSON") from error
    wish = wish.get("dialout_settings", wish) if isinstance(wish, dict) else None
    if not isinstance(wish, dict):
        raise web.HTTPBadRequest(text="the body must be an object")
${pstn ? PSTN_CHECK : SIP_CHECK}
    session_id = await start_bot(
        request.app,
        {"start_video_off": True, "enable_dialout": True},
        {"dialout_settings": settings},
    )
    logger.info(f"Session {session_id} starts a call")
    return web.json_response({"status": "calling", "sessionId": session_id})
`
}

const PSTN_CHECK = `    number, caller_id = wish.get("phone_number"), wish.get("caller_id")
    if not isinstance(number, str) or PHONE_NUMBER.fullmatch(number) is None:
        raise web.HTTPBadRequest(text="phone_number must look like +15551234567")
    settings = {"phone_number": number}
    if isinstance(caller_id, str):
        settings["caller_id"] = caller_id`

const SIP_CHECK = `    address = wish.get("sip_uri")
    if not isinstance(address, str) or SIP_URI.fullmatch(address) is None:
        raise web.HTTPBadRequest(text="sip_uri must look like sip:name@my-domain.sip.twilio.com")
    settings = {"sip_uri": address}`
