// Attack: a thief who has a password, or the secret of a client, sends it to four processes again and again, while an
// administrator changes the password, disables or removes the user, or rotates the secret and revokes the client. When the
// command has returned, no refresh token that was issued before, or that a sign-in in progress gets afterwards, gives tokens; also
// when the user is enabled again.

import { sha256Of } from '@grantry/testing'
import { afterAll, expect, test } from 'vitest'
import { networkStores } from '../support/network-stores.ts'
import { describeWithPostgresql } from '../support/postgresql-describe.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { post, type Service, soonEverywhere, startService } from './service.ts'

const web = ['web', 'web-secret'] as const
const api1 = ['api1', 'api1-secret'] as const
const clients = [
  {
    clientId: web[0],
    secrets: [{ sha256: sha256Of(web[1]) }],
    grantTypes: ['password', 'refresh_token'],
    scopes: ['openid', 'offline_access', 'api1'],
  },
]

const closings: (() => unknown)[] = []
afterAll(async () => {
  for (const close of closings.reverse()) await close()
})

const [old, next] = ['correct horse battery', 'another long password']

/** Processes that remember a client accept its old secret for seconds. After the revocation, that gives nothing. */
async function endsStolenSecrets({ command, everywhere }: Pick<Service, 'command' | 'everywhere'>): Promise<void> {
  const add = ['--grant', 'client_credentials', '--scope', 'api1', '--set', 'accessTokenFormat="reference"', '--json']
  const { secret } = JSON.parse(await command('clients', 'add', 'shop', ...add)) as { readonly secret: string }
  const form = { grant_type: 'client_credentials', scope: 'api1' }
  const ask = async (origin: string) =>
    (await post(`${origin}/connect/token`, ['shop', secret], form)).body.access_token
  const tokens: unknown[] = []
  let isOver = false
  // Every process remembers it.
  tokens.push(...(await everywhere(ask)))
  expect(tokens.every((token) => typeof token === 'string')).toBe(true)
  const loops = everywhere(async (origin) => {
    // As long as the secret is accepted anywhere.
    for (let token: unknown = ''; typeof token === 'string' || !isOver; token = await ask(origin)) tokens.push(token)
  })
  await command('clients', 'rotate-secret', 'shop')
  await command('revoke', '--client', 'shop')
  isOver = true
  await loops
  const stolen = tokens.filter((token): token is string => typeof token === 'string' && token !== '').slice(-200)
  const states = await everywhere(async (origin) => {
    const active: unknown[] = []
    // One after another: all of them would be more than a process accepts.
    for (const token of stolen) active.push((await post(`${origin}/connect/introspect`, api1, { token })).body.active)
    return active
  })
  expect(new Set(states.flat())).toEqual(new Set([false]))
}

async function endsEverything(storage: object): Promise<void> {
  const { command, commandWith, everywhere } = await startService(storage, closings, { clients })
  const token = (origin: string, form: Record<string, string>) => post(`${origin}/connect/token`, web, form)
  const signIn = (origin: string, password: string) =>
    token(origin, { grant_type: 'password', username: 'alice', password, scope: 'openid offline_access' })

  /** Signs in everywhere until a command has returned. Returns the refresh tokens. */
  async function tokensDuring(act: () => Promise<unknown>): Promise<readonly string[]> {
    let isOver = false
    const tokens: string[] = []
    // A process can remember the user as it was before the last command for 5 seconds, and refuses until then.
    await everywhere((origin) =>
      soonEverywhere(async () => {
        const { body } = await signIn(origin, old)
        // A refusal shows its error.
        expect(body).toMatchObject({ refresh_token: expect.any(String) })
        tokens.push(String(body.refresh_token))
      }),
    )
    // One sign-in at each process at any time: more would take the cores from the command, whose end ends them.
    const loops = everywhere(async (origin) => {
      // The thief gives up when a password is refused: the sign-ins that matter have begun before.
      while (!isOver) {
        const { body } = await signIn(origin, old)
        if (typeof body.refresh_token !== 'string') return
        tokens.push(body.refresh_token)
      }
    })
    await act()
    isOver = true
    await loops
    return tokens
  }

  /** The statuses of all of them, at all processes. */
  async function statusesOf(tokens: readonly string[]): Promise<ReadonlySet<number>> {
    const all = await everywhere((origin) =>
      Promise.all(
        tokens.map(
          async (refresh_token) => (await token(origin, { grant_type: 'refresh_token', refresh_token })).status,
        ),
      ),
    )
    return new Set(all.flat())
  }

  const changes = {
    'set-password': () => commandWith(`${next}\n`, 'users', 'set-password', 'a'),
    disable: () => command('users', 'disable', 'a'),
  } as const
  await commandWith(`${old}\n`, 'users', 'add', 'alice', '--sub', 'a')
  for (const change of ['set-password', 'disable'] as const) {
    const tokens = await tokensDuring(changes[change])
    expect([change, await statusesOf(tokens)]).toEqual([change, new Set([400])])
    // Whatever made the tokens inactive is over.
    await command('users', 'enable', 'a')
    expect([change, await statusesOf(tokens)]).toEqual([change, new Set([400])])
    await commandWith(`${old}\n`, 'users', 'set-password', 'a')
  }
  await endsStolenSecrets({ command, everywhere })
  const tokens = await tokensDuring(() => command('users', 'remove', 'a'))
  expect(await statusesOf(tokens)).toEqual(new Set([400]))
}

const title = 'a change of a user ends sign-ins in progress at four processes'
async function on(name: 'postgresql' | 'redis'): Promise<void> {
  const { stop, ...storage } = await networkStores[name]()
  closings.push(stop)
  await endsEverything(storage)
}

describeWithPostgresql(title, () => {
  test('on PostgreSQL', () => on('postgresql'))
})
describeWithRedis(title, () => {
  test('on Redis', () => on('redis'))
})
