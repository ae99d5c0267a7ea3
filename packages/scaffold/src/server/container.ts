import type { Configuration } from '../configuration.ts'
import { type Traits, traitsOf } from './traits.ts'
import { botcliVersion } from './wheel.ts'

/** `Dockerfile`: the bot under the same runner as on the developer's machine. */
export function dockerfile(configuration: Configuration): string {
  const command = runCommand(traitsOf(configuration))
  return `# The runner is a program for Node.
FROM node:22-bookworm-slim AS runner
WORKDIR /opt/botcli
# A cloud that builds this puts its own botcli beside it, as botcli*.tgz. Elsewhere it comes from npm;
# before botcli ${botcliVersion()} is there, make such packages with npm pack.
COPY wheels botcli*.tgz ./
RUN npm install --no-audit --no-fund $(ls ./botcli*.tgz 2>/dev/null || echo botcli@${botcliVersion()})

FROM python:3.12-slim-bookworm
COPY --from=runner /usr/local/bin/node /usr/local/bin/node
COPY --from=runner /opt/botcli/node_modules /opt/botcli/node_modules
ENV PATH="/opt/botcli/node_modules/.bin:$PATH" PYTHONUNBUFFERED=1

# Dependencies first: they change less often than the bot. With uv.lock they are the very same as on your machine.
WORKDIR /app
COPY pyproject.toml uv.lock* ./
COPY wheels ./wheels
RUN pip install --no-cache-dir uv && uv sync --no-cache --no-dev --compile-bytecode

# The bot, and whatever modules it will have. .dockerignore says what stays outside.
COPY . .
RUN useradd --create-home bot && chown bot /app
USER bot

EXPOSE 7860
CMD ${JSON.stringify(command).replaceAll(',', ', ')}
`
}

/** What runs the bot in an image. */
export function runCommand({ callFlow }: Traits): readonly string[] {
  const dialin = callFlow?.by === 'pstn' && callFlow.mode === 'dial-in' ? ['--dialin'] : []
  return ['botcli', 'run', 'bot.py', '--host', '0.0.0.0', '--port', '7860', ...dialin]
}

/** `.dockerignore`: what does not belong into an image. */
export function dockerignore(): string {
  return `# How many instances there are is no part of the image, and no reason to build it again.
deploy.toml
**/.env
**/.env.*
**/.venv
**/__pycache__
**/.ruff_cache
**/*.log
evals
eval-runs
recordings
tests
`
}

/** `deploy.toml`: how the cloud runs the bot. */
export function deployToml(configuration: Configuration): string {
  const { agent } = configuration.names
  const { videoIn, videoOut } = traitsOf(configuration)
  return `# How the cloud builds and runs this bot.
agent_name = "${agent}"
# What you have in .env goes into this set.
secret_set = "${agent}-secrets"
${videoIn || videoOut ? '# Video takes more than sound.\nagent_profile = "agent-2x"' : 'agent_profile = "agent-1x"'}

[build]
context_dir = "."
dockerfile = "Dockerfile"

# Instances that wait for calls, and the most that there may be.
[scaling]
min_agents = 1
max_agents = 10
`
}
