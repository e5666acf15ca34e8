import type { AtomicDriver, EndpointSwitch, Plugins, ProviderEvent } from '@grantry/core'
import { mapDriver } from '../map-driver.ts'
import {
  basic,
  type Credentials,
  createTestClock,
  createTestProvider,
  type NewGrant,
  type Optional,
  read,
  storeGrant,
  type TestClock,
} from '../test-provider.ts'
import { authorizedByKit } from './authorization-rules.ts'
import { type Bench, clientsOf, kitGrantType, pluginsWith, present, scopesOf, usersOf } from './bench.ts'
import type { CaseContext } from './cases.ts'
import { checkLeaks, secretsIn } from './leak-rules.ts'
import { createProbe } from './probe.ts'
import { checkResponse } from './response-rules.ts'
import type { Outgoing, Received, Sender, Setting, Target } from './target.ts'

export const senderOf = (credentials: Credentials): Sender => ({ clientId: credentials[0], credentials })

/** The address of a caller, unless the request has another. Limits of a plugin can need one. */
const clientAddress = '192.0.2.1'

/** The values that several providers share. */
export interface Shared {
  readonly items: Map<string, string>
  readonly clock: TestClock
  readonly driver: AtomicDriver
}

export function createShared(wrap: (driver: AtomicDriver) => AtomicDriver = (driver) => driver): Shared {
  const items = new Map<string, string>()
  const clock = createTestClock()
  return { items, clock, driver: wrap(mapDriver(items, clock.now)) }
}

interface SettingOptions {
  readonly shared?: Shared | undefined
  readonly issuer?: string | undefined
  /** The plugin, if several providers share it. */
  readonly instance?: Plugins | undefined
  readonly endpoints?: Readonly<Record<string, EndpointSwitch>> | undefined
}

/** Writes a request. */
function requestOf(url: string, { method, body, parameters, headers, as, repeat }: Outgoing): Request {
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined)
  const text = new URLSearchParams(
    set.map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
  if (repeat !== undefined) text.append(repeat, text.get(repeat) ?? '')
  const sent = {
    ...(as !== undefined && { authorization: basic(as) }),
    ...(body === 'json' && { 'content-type': 'application/json' }),
    ...headers,
  }
  const query = String(text)
  if (body === 'query') return new Request(query === '' ? url : `${url}?${query}`, { method, headers: sent })
  return new Request(url, {
    method,
    headers: sent,
    body: body === 'json' ? JSON.stringify(Object.fromEntries(set)) : text,
  })
}

/** Reads a response. `events`: those of the request. */
async function receivedFrom(response: Response, events: readonly ProviderEvent[]): Promise<Received> {
  const { status, headers } = response
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  const { body } = isJson || status === 204 ? await read(response) : { body: (await response.text()) || undefined }
  const failed = events.flatMap((event) => (event.type === 'endpoint_failed' ? [event] : [])).at(-1)
  const reason = failed?.reason
  if (isJson) return { status, headers, body, error: status < 400 ? undefined : body?.error, reason }
  return { status, headers, body, error: failed?.error, reason }
}

const settingError = (part: string, what: string, seen: string): Error =>
  new Error(`The kit could not ${what} for the ${part}: ${seen}`)

export async function openSetting(bench: Bench, target: Target, options: SettingOptions = {}): Promise<Setting> {
  const { shared = createShared(), issuer, endpoints } = options
  const probe = createProbe(options.instance ?? bench.instance())
  const { clock, items } = shared
  let active = true
  const { cases } = bench
  const test = await createTestProvider({
    ...cases.options,
    ...(issuer !== undefined && { issuer }),
    plugins: pluginsWith(bench, probe.plugins),
    storage: shared.driver,
    clients: [...clientsOf(bench), ...(target.clients ?? [])],
    scopes: scopesOf(bench),
    users: usersOf(bench, () => active),
    ...(endpoints !== undefined && { endpoints: { ...cases.options?.endpoints, ...endpoints } }),
    runtime: { ...cases.options?.runtime, now: clock.now },
  })
  const { provider, events } = test
  const secrets = new Map<string, string>()
  let requests = 0

  function context({ clientId, credentials }: Sender): CaseContext {
    const post: CaseContext['post'] = (endpoint, form, as, from = clientAddress) => test.post(endpoint, form, as, from)
    return {
      provider,
      clock,
      post,
      get: (endpoint, query, headers, from = clientAddress) => test.get(endpoint, query, headers, from),
      clientId,
      client: credentials,
      authorize: (more: Optional<NewGrant> = {}) =>
        storeGrant(provider, {
          kind: target.kind ?? 'code',
          clientId,
          subject: { sub: 'alice', amr: ['pwd'] },
          scopes: ['api1'],
          lifetime: 60,
          ...authorizedByKit,
          ...(present(more) as Partial<NewGrant>),
        }),
      async issue(scope) {
        const form = { grant_type: kitGrantType, scope, ...(credentials === undefined && { client_id: clientId }) }
        const { status, body, failure } = await post('token', form, credentials)
        if (status !== 200) {
          throw settingError(target.part, 'issue tokens', `${JSON.stringify(body)} (${String(failure)})`)
        }
        return body
      },
    }
  }

  return {
    provider,
    clock,
    probe,
    context,
    async send(outgoing) {
      const handler = provider.handlers[outgoing.endpoint]
      if (handler === undefined) throw settingError(target.part, 'find the endpoint', outgoing.endpoint)
      const earlier = events.length
      // Identifies the events of this request among those of concurrent ones (W3C Trace Context).
      requests += 1
      const traceId = String(requests).padStart(32, '0')
      const headers = { ...outgoing.headers, traceparent: `00-${traceId}-${'1'.repeat(16)}-00` }
      const request = requestOf(`${issuer ?? provider.issuer}/${outgoing.endpoint}`, { ...outgoing, headers })
      const { from = clientAddress, clientCertificate } = outgoing
      const response = await handler(request, { clientAddress: from, clientCertificate })
      const caused = events.slice(earlier).filter((event) => event.traceId === traceId)
      const result = await receivedFrom(response, caused)
      for (const [value, name] of secretsIn(outgoing, result, target.public)) secrets.set(value, name)
      checkResponse({ bench, target, outgoing, response: result, events: caused, probe })
      return result
    },
    deactivateUsers() {
      active = false
    },
    finish: () => checkLeaks({ bench, target, secrets, events, items }),
  }
}

/** Opens a setting, runs `use`, and checks what is left in events and in the storage. */
export async function inSetting<T>(
  bench: Bench,
  target: Target,
  use: (setting: Setting) => Promise<T>,
  options?: SettingOptions,
): Promise<T> {
  const setting = await openSetting(bench, target, options)
  const result = await use(setting)
  setting.finish()
  return result
}
