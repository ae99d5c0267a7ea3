import type { Finding } from '../finding.ts'
import type { Subject } from '../subject.ts'
import { checkClient, checkClientPort } from './client.ts'
import { checkCloud } from './cloud.ts'
import { checkGuide } from './guide.ts'
import { checkKeys, checkSecrecy } from './keys.ts'
import { checkCallServerPort, checkRunnerPort } from './ports.ts'
import { checkBot, checkProject } from './project.ts'
import { checkEnvironment, checkPython } from './python.ts'
import { checkGit, checkNode, checkNpm, checkUv } from './tools.ts'
import { checkWheel } from './wheel.ts'

/** One thing that is looked at. */
export interface Check {
  readonly name: string
  /** Gives nothing when the project has nothing of the kind. */
  examine(subject: Subject): Promise<Finding | undefined>
}

/** Every check, in the order in which people read them. */
export const CHECKS: readonly Check[] = [
  { name: 'project', examine: checkProject },
  { name: 'bot', examine: checkBot },
  { name: 'node', examine: async () => checkNode(process.versions.node) },
  { name: 'python', examine: checkPython },
  { name: 'uv', examine: checkUv },
  { name: 'npm', examine: checkNpm },
  { name: 'git', examine: checkGit },
  { name: 'wheel', examine: checkWheel },
  { name: 'environment', examine: checkEnvironment },
  { name: 'keys', examine: checkKeys },
  { name: 'secrecy', examine: checkSecrecy },
  { name: 'client', examine: checkClient },
  { name: 'runner-port', examine: checkRunnerPort },
  { name: 'client-port', examine: checkClientPort },
  { name: 'call-server-port', examine: checkCallServerPort },
  { name: 'guide', examine: checkGuide },
  { name: 'cloud', examine: checkCloud },
]
