import type { EndpointSwitch } from '../../endpoints/paths.ts'
import type { NewGrant } from '../../plugin/authorize.ts'
import type { Plugins } from '../../plugin/plugin.ts'
import type { AtomicDriver } from '../../records/driver.ts'
import type { Optional } from '../../types.ts'
import { mapDriver } from '../map-driver.ts'
import { basic, type Credentials, createTestClock, createTestProvider, read, type TestClock } from '../test-provider.ts'
import { type Bench, clientsOf, kitGrantType, pluginsWith, present, scopesOf, usersOf } from './bench.ts'
import type { CaseContext } from './cases.ts'
import { createProbe } from './probe.ts'
import { checkLeaks, checkResponse, secretsIn } from './response-rules.ts'
import type { Outgoing, Sender, Setting, Target } from './target.ts'

export const senderOf = (credentials: Credentials): Sender => ({ clientId: credentials[0], credentials })

/** What several providers share. */
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
  if (body === 'query') return new Request(`${url}?${text}`, { method, headers: sent })
  return new Request(url, {
    method,
    headers: sent,
    body: body === 'json' ? JSON.stringify(Object.fromEntries(set)) : text,
  })
}

const settingError = (part: string, what: string, body: unknown): Error =>
  new Error(`The kit could not ${what} for the ${part}: ${JSON.stringify(body)}`)

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

  function context({ clientId, credentials }: Sender): CaseContext {
    const { post, get } = test
    return {
      provider,
      clock,
      post,
      get,
      clientId,
      client: credentials,
      authorize: (more: Optional<NewGrant> = {}) =>
        provider.authorize({
          kind: target.kind ?? 'code',
          clientId,
          subject: { sub: 'alice', amr: ['pwd'] },
          scopes: ['api1'],
          lifetime: 60,
          ...(present(more) as Partial<NewGrant>),
        }),
      async issue(scope) {
        const form = { grant_type: kitGrantType, scope, ...(credentials === undefined && { client_id: clientId }) }
        const { status, body } = await post('token', form, credentials)
        if (status !== 200) throw settingError(target.part, 'issue tokens', body)
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
      const response = await handler(requestOf(`${issuer ?? provider.issuer}/${outgoing.endpoint}`, outgoing))
      const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
      const plain = isJson || response.status === 204 ? await read(response) : undefined
      const result = plain ?? {
        status: response.status,
        headers: response.headers,
        body: (await response.text()) || undefined,
      }
      for (const [value, name] of secretsIn(outgoing, result, target.public)) secrets.set(value, name)
      checkResponse({ bench, target, outgoing, response: result, events: events.slice(earlier), probe })
      return result
    },
    deactivateUsers() {
      active = false
    },
    finish: () => checkLeaks({ bench, target, secrets, events, items, probe }),
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
