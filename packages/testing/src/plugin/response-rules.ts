import { isCoreError, isOAuthError, isReason, type ProviderEvent, thrownValueOf } from '@grantry/core'
import { type Bench, partsOf } from './bench.ts'
import { isTelling, occursIn, publicNames } from './leak-rules.ts'
import type { Probe } from './probe.ts'
import type { Outgoing, Received, Target } from './target.ts'

interface Exchange {
  readonly bench: Bench
  readonly target: Target
  readonly outgoing: Outgoing
  readonly response: Received
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
    if (publicNames.has(name) || !isTelling(value)) continue
    if (occursIn(text, value)) {
      findings.add('value-in-error', part, `the response contains the value of ${name}`)
    }
  }
}

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

function checkThrown(exchange: Exchange): void {
  const { bench, target, response, probe } = exchange
  const { findings } = bench
  const { part } = target
  const thrown = probe.thrown.splice(0)
  const errors = thrown.map(({ error }) => error)
  checkInternals(exchange, errors)
  for (const { plugin, error } of thrown) {
    if (!isOAuthError(error)) continue
    // The core removes other characters, so the caller would not receive the text of the plugin.
    if (!/^[\x20-\x21\x23-\x5B\x5D-\x7E]*$/u.test(error.message)) {
      findings.add('error-description', part, `it is ${JSON.stringify(error.message)}`)
    }
    const reason: unknown = error.details?.reason
    // A grant without a plugin has the name of its grant type, which can be a URN: then any short name is accepted.
    const isOwn =
      typeof reason === 'string' &&
      (plugin.includes(':') ? /^plugin:[a-z][\w.-]*:./u.test(reason) : reason.startsWith(`plugin:${plugin}:`))
    if (!isOwn && response.status < 500)
      findings.add('reason', part, `the reason of a refusal is ${JSON.stringify(reason)}`)
  }
}

/** Checks the reasons that methods of client authentication have returned. The core replaces what is not a reason. */
function checkReasons({ bench: { findings }, target: { part }, probe }: Exchange): void {
  for (const reason of probe.reasons.splice(0)) {
    if (!isReason(reason)) findings.add('reason', part, `verify returned the reason ${JSON.stringify(reason)}`)
  }
}

/** Checks that `presentError` has not failed: the caller then gets JSON, which a browser shows as text. */
function checkPresented({ bench, target: { part }, events }: Exchange): void {
  for (const event of events) {
    if (event.type !== 'unhandled_failure' || event.reason !== 'error_not_presented') continue
    bench.findings.add('presented-error', part, `it failed: ${messageOf(thrownValueOf(event.cause))}`)
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
  checkPresented(exchange)
  checkThrown(exchange)
  checkReasons(exchange)
}
