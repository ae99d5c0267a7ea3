/** Variables of the machine that programs need to find their way. Nothing else of ours is passed on: it may hold keys. */
const PASSED =
  /^(?:PATH|HOME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|(?:https?|all|no)_proxy|SSL_CERT_(?:FILE|DIR)|NODE_EXTRA_CA_CERTS|REQUESTS_CA_BUNDLE)$/i
/** What the programs of container engines are told beside that. */
const CONTAINER_PASSED =
  /^(?:DOCKER_(?!AUTH)\w+|CONTAINERS?_\w+|XDG_\w+|DBUS_SESSION_BUS_ADDRESS|STORAGE_\w+|REGISTRY_AUTH_FILE)$/

/** Every process of an instance has it in its environment, so that all of them are found. */
export const INSTANCE_ID_VARIABLE = 'BOTCLI_INSTANCE_ID'

/** Names and values of variables. */
export type Variables = Readonly<Record<string, string>>

/** The variables of this machine that an instance gets. */
export function machineVariables(env: NodeJS.ProcessEnv): Variables {
  return pick(env, (name) => PASSED.test(name))
}

/** The variables of this machine that the program of a container engine gets. */
export function containerVariables(env: NodeJS.ProcessEnv): Variables {
  return pick(env, (name) => PASSED.test(name) || CONTAINER_PASSED.test(name))
}

/** The mark of the processes of an instance. */
export function instanceMark(id: string): string {
  return `${INSTANCE_ID_VARIABLE}=${id}`
}

function pick(env: NodeJS.ProcessEnv, isWanted: (name: string) => boolean): Variables {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && isWanted(name) ? [[name, value]] : [],
    ),
  )
}
