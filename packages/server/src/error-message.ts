import { configurationError, configurationProblems, isOAuthError } from '@grantry/core'
import { sanitizeText } from './sanitize-text.ts'

/**
 * Returns the message of a thrown value on one line, without terminal control sequences. For an `OAuthError` with a
 * cause, which clients only see as "temporarily unavailable", it returns the reason and the cause.
 */
export function errorMessage(thrown: unknown): string {
  if (isOAuthError(thrown) && thrown.cause !== undefined) {
    const { reason } = thrown.details
    return `${reason === 'storage_failed' ? 'the storage failed' : reason}: ${errorMessage(thrown.cause)}`
  }
  const lines = (thrown instanceof Error ? thrown.message : String(thrown)).split('\n').map((line) => line.trim())
  return sanitizeText(lines.filter((line) => line !== '').join(' '))
}

/** Returns the message of an error without the `createProvider(): ` prefix: the operator has not called a function. */
export const configurationMessage = (cause: unknown): string =>
  errorMessage(cause).replace(/^createProvider\(\): /u, '')

/** Returns why the system refused access to a file: its error code, or the message where a runtime gives no code. */
export const fileErrorReason = (cause: unknown): string =>
  (cause as { readonly code?: string }).code ?? errorMessage(cause)

/** Returns the mistakes in a configuration, one sentence each; the message of any other error. */
export function problemsIn(thrown: unknown): readonly string[] {
  const problems = configurationProblems(thrown)
  return problems.length < 2 ? [configurationMessage(thrown)] : problems.map(configurationMessage)
}

const placeForm = /^(?:[\w$-]+|\.[\w$-]+|\[\d+\](?! \("))+/u
const stepForm = /\[?([\w$-]+)\]?/gu
// The form of an id. Another text could forge a line of the log.
const idForm = /^[!#-~]{1,100}$/u

function idOf(entry: unknown): string {
  const { clientId, sub, username, name = clientId ?? sub ?? username } = Object(entry) as Record<string, unknown>
  return typeof name === 'string' && idForm.test(name) ? ` ("${name}")` : ''
}

/**
 * Adds the id of each entry of a list to the place that a message starts with, such as `tenants.list[0] ("acme").issuer`: an
 * operator cannot see that a client is the forty-second. Clients and scopes have theirs already where the core names them.
 */
export function withEntryIds(problem: string, configuration: unknown): string {
  const [place = ''] = placeForm.exec(problem) ?? []
  let value = configuration
  const named = place.replaceAll(stepForm, (step, name: string) => {
    const isEntry = Array.isArray(value)
    value = Object(value)[name]
    return isEntry ? `${step}${idOf(value)}` : step
  })
  return `${named}${problem.slice(place.length)}`
}

/**
 * Wraps an error so that its message starts with the file that the operator wrote.
 *
 * @param configuration what is in the file: messages name its entries by their ids, too
 */
export function errorInFile(cause: unknown, file: string, configuration?: unknown): Error {
  const [first, ...others] = isOAuthError(cause) ? [] : configurationProblems(cause)
  const inFile = (problem: unknown): string => `${file}: ${withEntryIds(configurationMessage(problem), configuration)}`
  return configurationError([inFile(first ?? cause), ...others.map(inFile)], { cause })
}

/** The names of the settings to change. */
interface ListenSettings {
  readonly port: string
  readonly host: string
}

/** Turns a failed `listen()` into an error whose one-line message says what to change. */
export function listenFailure(
  cause: unknown,
  host: string,
  port: number,
  { port: portSetting, host: hostSetting }: ListenSettings = { port: '--port', host: '--host' },
): Error {
  const { code, message } = cause as { code?: string; message?: string }
  const known: Readonly<Record<string, string>> = {
    EADDRINUSE: `port ${port} on ${host} is in use; stop the other process, or choose another port with ${portSetting}`,
    EACCES: `this user is not allowed to listen on port ${port}; choose one above 1023 with ${portSetting}`,
    EADDRNOTAVAIL: `${host} is not an address of this machine; choose one with ${hostSetting}`,
    ENOTFOUND: `${host} is an unknown host; choose an address of this machine with ${hostSetting}`,
  }
  return new TypeError(known[code ?? ''] ?? `cannot listen on ${host}:${port}: ${message}`, { cause })
}
