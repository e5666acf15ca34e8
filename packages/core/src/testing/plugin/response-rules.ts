import { isCoreError } from '../../errors/error-response.ts'
import { isOAuthError } from '../../errors/oauth-error.ts'
import { thrownValueOf } from '../../events/cause.ts'
import type { ProviderEvent } from '../../events/event.ts'
import { partsOf } from '../../registry/collect.ts'
import type { TestResponse } from '../test-provider.ts'
import type { Bench } from './bench.ts'
import type { Probe } from './probe.ts'
import type { Outgoing, Target } from './target.ts'

/** Parameters of standards that are neither secret nor personal, or that events contain on purpose. */
const publicParameters: ReadonlySet<string> = new Set([
  'grant_type',
  'scope',
  'client_id',
  'redirect_uri',
  'resource',
  'audience',
  'username',
  'acr_values',
  'subject_token_type',
  'actor_token_type',
  'requested_token_type',
  'token_type_hint',
  'client_assertion_type',
  'code_challenge_method',
])

const tokenMembers = ['access_token', 'refresh_token', 'id_token'] as const
const shortest = 6
/** A short value or a word can occur by chance. */
const isTelling = (value: unknown): value is string =>
  typeof value === 'string' && value.length >= shortest && !/^[a-z]+$/u.test(value)
/** What an endpoint returns as a credential. The id of a token is none. */
const credentialForm = /^[\w\-.~+=]{20,}$/u

/** Returns the values that must not occur in events and in the storage, with their names. */
export function secretsIn(
  { parameters, headers }: Outgoing,
  { status, body }: TestResponse,
  isPublic: readonly string[],
): readonly (readonly [value: string, name: string])[] {
  const sent = Object.entries(parameters).filter(([name]) => !publicParameters.has(name) && !isPublic.includes(name))
  const authorization = headers?.authorization?.replace(/^\w+ /u, '')
  const members: Readonly<Record<string, unknown>> =
    status < 400 && typeof body === 'object' && body !== null ? body : {}
  const tokens = Object.entries(members).filter(
    ([name, value]) =>
      (tokenMembers as readonly string[]).includes(name) ||
      (name !== 'jti' && typeof value === 'string' && credentialForm.test(value)),
  )
  return [...sent, ['authorization', authorization] as const, ...tokens].flatMap(([name, value]) =>
    isTelling(value) && value.length < 10_000 ? [[value, name] as const] : [],
  )
}

interface Exchange {
  readonly bench: Bench
  readonly target: Target
  readonly outgoing: Outgoing
  readonly response: TestResponse
  /** The events of the request. */
  readonly events: readonly ProviderEvent[]
  readonly probe: Probe
}

const messageOf = (thrown: unknown): string =>
  thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown)

/** The thrown value behind a `server_error`. */
const failureIn = (events: readonly ProviderEvent[]): unknown =>
  events.flatMap((event) => (event.type === 'unhandled_failure' ? [thrownValueOf(event.cause)] : [])).at(-1)

const namesOf = ({ parameters }: Outgoing): string => Object.keys(parameters).join(', ')

/** What an event says about a refusal. */
export const reasonIn = (events: readonly ProviderEvent[]): string | undefined =>
  events.flatMap((event) => (event.type === 'endpoint_failed' ? [event.reason] : [])).at(-1)

function checkError({ bench, target: { part }, outgoing, response: { status, headers, body } }: Exchange): void {
  const { findings } = bench
  const problem = (seen: string): void => findings.add('error-shape', part, seen)
  const error: unknown = body?.error
  if (headers.get('cache-control') !== 'no-store') problem(`an error of status ${status} can be cached`)
  // A bearer challenge without credentials, and pages.
  if (body === undefined || typeof body === 'string') return
  const isRegistered =
    typeof error === 'string' &&
    (isCoreError(error) ||
      partsOf(bench.parts, 'fields').some((owned) => Object.hasOwn(owned.part.errors ?? {}, error)))
  if (!isRegistered) problem(`the error was ${JSON.stringify(error)}`)
  const text = JSON.stringify(body)
  for (const [name, value] of Object.entries(outgoing.parameters)) {
    if (publicParameters.has(name) || !isTelling(value)) continue
    if (text.includes(JSON.stringify(value).slice(1, -1))) {
      findings.add('value-in-error', part, `the response contains the value of ${name}`)
    }
  }
}

/** A line of a stack trace. */
const stackLine = /\n\s+at .+:\d+/u

/** Checks that a response contains nothing of an internal error. */
function checkInternals({ bench, target: { part }, response: { body } }: Exchange, thrown: readonly unknown[]): void {
  if (typeof body !== 'object' && typeof body !== 'string') return
  const text = typeof body === 'string' ? body : Object.values(body ?? {}).join('\n')
  if (stackLine.test(text)) bench.findings.add('internal-message', part, 'the response contains a stack trace')
  const internal = thrown.map((error) => (isOAuthError(error) ? error.details?.cause : error))
  for (const error of internal) {
    if (error instanceof Error && !isOAuthError(error) && error.message !== '' && text.includes(error.message)) {
      bench.findings.add('internal-message', part, `the response contains the message of a ${error.name}`)
    }
  }
}

/** Checks what the parts have thrown. */
function checkThrown(exchange: Exchange): void {
  const { bench, target, response, probe } = exchange
  const { findings } = bench
  const { part } = target
  const thrown = probe.thrown.splice(0)
  const errors = thrown.map(({ error }) => error)
  checkInternals(exchange, errors)
  for (const { plugin, error } of thrown) {
    if (!isOAuthError(error)) continue
    // The core removes other characters, so that the text loses what the plugin wanted to say.
    if (!/^[\x20-\x21\x23-\x5B\x5D-\x7E]*$/u.test(error.message)) {
      findings.add('error-description', part, `it is ${JSON.stringify(error.message)}`)
    }
    const reason: unknown = error.details?.reason
    // A name in an event has no hyphens in older plugins, and a lone grant has the name of its grant type.
    const names = plugin.includes(':') ? /^plugin:[a-z][\w.-]*:./u : undefined
    const start = `plugin:${plugin.replaceAll('-', '_')}:`
    const isOwn = typeof reason === 'string' && (names?.test(reason) || reason.replaceAll('-', '_').startsWith(start))
    if (!isOwn && response.status < 500)
      findings.add('reason', part, `the reason of a refusal is ${JSON.stringify(reason)}`)
  }
}

/** Checks the rules that apply to every response. */
export function checkResponse(exchange: Exchange): void {
  const { bench, target, outgoing, response, events } = exchange
  if (response.status >= 400) checkError(exchange)
  if (response.status === 500) {
    const thrown = failureIn(events)
    bench.findings.add('server-error', target.part, `a request with ${namesOf(outgoing)} caused ${messageOf(thrown)}`)
  }
  checkThrown(exchange)
}

/** How a value can be written in JSON. */
const spellingsOf = (secret: string): readonly string[] => [secret, JSON.stringify(secret).slice(1, -1)]

/** Checks that no secret occurs in the events and in the storage. */
export function checkLeaks(state: {
  readonly bench: Bench
  readonly target: Target
  /** Values and their names. */
  readonly secrets: ReadonlyMap<string, string>
  readonly events: readonly ProviderEvent[]
  readonly items: ReadonlyMap<string, string>
  readonly probe: Probe
}): void {
  const { bench, target, secrets, events, items } = state
  const written = events.map((event) => [event.type, JSON.stringify(event)] as const)
  const stored = [...items].map(([key, value]) => [key.split(':')[0] ?? '', `${key} ${value}`] as const)
  for (const [secret, name] of secrets) {
    const isIn = ([, text]: readonly [string, string]): boolean => spellingsOf(secret).some((one) => text.includes(one))
    const event = written.find(isIn)
    if (event !== undefined) {
      bench.findings.add('secret-in-event', target.part, `the event ${event[0]} contains the value of ${name}`)
    }
    const record = stored.find(isIn)
    if (record !== undefined) {
      bench.findings.add(
        'secret-in-storage',
        target.part,
        `a record of the kind ${record[0]} contains the value of ${name}`,
      )
    }
  }
}
