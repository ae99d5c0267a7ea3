import { optionsHelp } from '../options/help.ts'
import { FEATURE_OPTIONS, PROJECT_OPTIONS, RUN_OPTIONS } from './options.ts'

/** What `botcli init --help` prints. */
export function help(): string {
  return `Make a new bot project, by questions or by options.

Usage: botcli init [TARGET_DIR] [options]

TARGET_DIR is where the project goes: a new folder such as my-bot, or . for this one. Without any option you
are asked; any option that describes the project makes one without questions, in this folder if none is named.
"botcli init quickstart" makes a ready-made bot in ./bot-quickstart. Nothing that exists is overwritten, and
either everything is written or nothing.

The project:
${optionsHelp(PROJECT_OPTIONS, { withHelp: false })}

Features:
${optionsHelp(FEATURE_OPTIONS, { withHelp: false })}

The command:
${optionsHelp(RUN_OPTIONS)}

Examples:
  botcli init quickstart
  botcli init my-bot -t webrtc -m cascade --stt deepgram_stt --llm openai_llm --tts cartesia_tts
  botcli init my-bot -t telephony_a -m realtime --realtime openai_realtime --eval
  botcli init my-bot --config my-bot.json --dry-run

Exit codes:
  0    done
  1    an option is missing or wrong, files are in the way, or the folder cannot be written
  2    the command line is wrong
  130  cancelled; nothing was written
`
}
