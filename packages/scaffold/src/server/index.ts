import type { Configuration } from '../configuration.ts'
import type { PlannedFile } from '../plan.ts'
import { botModule } from './bot.ts'
import { callServer } from './call-server.ts'
import { deployToml, dockerfile, dockerignore } from './container.ts'
import { envExample } from './env-example.ts'
import { evalFiles } from './evals.ts'
import { pyproject } from './pyproject.ts'
import { settingsModule } from './settings.ts'
import { smokeTest } from './smoke-test.ts'
import { traitsOf } from './traits.ts'
import { hasCallServer } from './variables.ts'

export { gitignore } from './gitignore.ts'
export { nextSteps } from './next-steps.ts'
export { rootFiles } from './root.ts'
export { envVariables } from './variables.ts'
export { botcliVersion, wheelName, wheelPath } from './wheel.ts'

/** Everything under `server/` but the wheel, whose bytes others have. */
export function serverFiles(configuration: Configuration): readonly PlannedFile[] {
  const traits = traitsOf(configuration)
  const { callFlow } = traits
  const files: PlannedFile[] = [
    { path: 'server/bot.py', content: botModule(configuration) },
    { path: 'server/settings.py', content: settingsModule(configuration) },
    { path: 'server/pyproject.toml', content: pyproject(configuration) },
    { path: 'server/.env.example', content: envExample(configuration) },
    { path: 'server/tests/test_bot.py', content: smokeTest(configuration) },
    ...evalFiles(configuration),
  ]
  if (callFlow !== undefined && hasCallServer(traits)) {
    files.push({ path: 'server/server.py', content: callServer(callFlow) })
  }
  if (configuration.deployToCloud) {
    files.push(
      { path: 'server/Dockerfile', content: dockerfile(configuration) },
      { path: 'server/.dockerignore', content: dockerignore() },
      { path: 'server/deploy.toml', content: deployToml(configuration) },
    )
  }
  return files
}
