import { createHash, scryptSync } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'
import { type GrantryServer, startServer } from '../../packages/server/src/server.ts'
import { describeWithRedis } from '../support/redis-describe.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { keySet } from './doctor/configurations.ts'
import { printed } from './printed.ts'
import { root } from './running-command.ts'
import { run } from './running-program.ts'

const base = mkdtempSync(join(tmpdir(), 'grantry-operator-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

const sha256 = (secret: string) => ({ sha256: createHash('sha256').update(secret).digest('base64') })
// As cheap as it may be: the hash is not what is tested.
const salt = Buffer.from('0123456789abcdef')
const unpadded = (bytes: Buffer): string => bytes.toString('base64').replaceAll('=', '')
const hash = scryptSync('alice-password', salt, 32, { N: 1024, r: 8, p: 1 })
const password = `$scrypt$ln=10,r=8,p=1$${unpadded(salt)}$${unpadded(hash)}`

function configuration(storage: object): object {
  const grantTypes = ['client_credentials', 'password', 'refresh_token']
  const client = { secrets: [sha256('web-secret')], grantTypes, scopes: ['openid', 'offline_access', 'api1'] }
  return {
    issuer: 'http://127.0.0.1:5000',
    storage,
    keys: { jwks: './keys.json' },
    clients: [
      { ...client, clientId: 'web', accessTokenFormat: 'reference' },
      { ...client, clientId: 'web-jwt' },
    ],
    scopes: [{ name: 'api1', secrets: [sha256('api1-secret')] }],
    users: [{ sub: '1', username: 'alice', password }],
  }
}

let count = 0
function file(storage: object): string {
  count += 1
  const path = join(base, `c${count}.json`)
  writeFileSync(path, JSON.stringify(configuration(storage)))
  writeFileSync(join(base, 'keys.json'), keySet, { mode: 0o600 })
  return path
}
const directories = () => ({ driver: 'filesystem', directory: mkdtempSync(join(base, 'data-')), fsync: false })

let server: GrantryServer | undefined
afterEach(async () => {
  await server?.close(0)
  server = undefined
})

/** A server in this process; the commands run beside it, with a storage of their own on the same files or the same Redis. */
async function serve(path: string) {
  server = await startServer({ loaded: await loadConfiguration(path, {}), port: 0, observe: () => {} })
  const origin = `http://127.0.0.1:${server.running.port}`
  const post = async (endpoint: string, form: Record<string, string>, [id, secret] = ['web', 'web-secret']) => {
    const authorization = `Basic ${btoa(`${id}:${secret}`)}`
    const response = await fetch(`${origin}/connect/${endpoint}`, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams(form),
    })
    return { status: response.status, body: await response.json() }
  }
  const login = {
    grant_type: 'password',
    username: 'alice',
    password: 'alice-password',
    scope: 'openid offline_access api1',
  }
  return {
    login: async (id = 'web') => (await post('token', login, [id, 'web-secret'])).body,
    isActive: async (token: string) => (await post('introspect', { token }, ['api1', 'api1-secret'])).body.active,
    refresh: async (token: string, id = 'web') =>
      (await post('token', { grant_type: 'refresh_token', refresh_token: token }, [id, 'web-secret'])).status,
  }
}

async function revokesBesideTheServer(path: string): Promise<void> {
  const { login, isActive, refresh } = await serve(path)
  for (const id of ['web', 'web-jwt']) {
    for (const target of [['--subject', '1'], ['--client', id], ['--family']]) {
      const issued = await login(id)
      const other = await login(id)
      const { family = '' } = (await server?.provider.inspect(issued.refresh_token)) ?? {}
      const given = target.length === 1 ? [...target, family] : target
      expect(await printed('revoke', ...given, '--config', path)).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringMatching(/ is refused from now on[^\n]*\n$/u),
      })
      expect([given[0], await isActive(issued.access_token), await refresh(issued.refresh_token, id)]).toEqual([
        given[0],
        false,
        400,
      ])
      expect([given[0], await isActive(other.access_token)]).toEqual([given[0], given[0] === '--family'])
      const fresh = await login(id)
      expect([await isActive(fresh.access_token), await refresh(fresh.refresh_token, id)]).toEqual([true, 200])
    }
  }
}

describe('grantry revoke', () => {
  test(
    'on files: the running server follows at once, and what begins afterwards works',
    () => revokesBesideTheServer(file(directories())),
    60_000,
  )

  test('with a name that nobody has is done all the same, and says that it may be a slip', async () => {
    const path = file(directories())
    expect((await printed('revoke', '--client', 'wbe', '--config', path)).out).toMatch(
      /\nNote: no client wbe is configured; .+\n$/u,
    )
    expect((await printed('revoke', '--subject', 'alice', '--config', path)).out).toMatch(
      /\nNote: no user with the sub alice is configured; .+\n$/u,
    )
  })

  test('in memory says in one sentence why it cannot work', async () => {
    const { code, out, err } = await printed('revoke', '--subject', '1', '--config', file({ driver: 'memory' }))
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(
      /^grantry: .*storage\.driver is memory, which only the server's own process can reach; [^\n]+\n$/u,
    )
  })

  test('with the storage out of reach ends with 1 and does not say that it is done', async () => {
    const path = file({ driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.1 })
    const { code, out, err } = await printed('revoke', '--subject', '1', '--config', path)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^grantry: [^\n]*storage[^\n]+\n$/u)
  })

  // In the wrong directory it would have done nothing, in an empty store of the demo.
  test('without a configuration ends with 1', async () => {
    const { code, out, err } = await run(['revoke', '--subject', '1'], mkdtempSync(join(base, 'empty-')))
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^grantry: there is no configuration in [^\n]+\n$/u)
  }, 60_000)

  test.each([[[]], [['--subject', '1', '--client', 'web']], [['--subject']], [['--user', '1']]])(
    '%j is wrong usage',
    async (args) => {
      const { code, out, err } = await printed('revoke', ...args)
      expect([code, out]).toEqual([2, ''])
      expect(err).not.toBe('')
    },
  )
})

describeWithRedis('grantry revoke on Redis', () => {
  let redis: RedisServer
  afterAll(() => redis?.stop())
  test('the running server follows at once, and the doctor has nothing against the store', async () => {
    redis = await startRedis()
    const path = file({ driver: 'redis', url: redis.url })
    await revokesBesideTheServer(path)
    const { findings } = JSON.parse((await printed('check', '--json', '--config', path)).out)
    expect(findings.filter(({ id }: { id: string }) => id.startsWith('store-'))).toEqual([])
  }, 60_000)

  // Limits need more rights than tokens do: one that lacks them would hear 503 for each wrong secret.
  test('as the user that the guide names the doctor has nothing against the store, and with fewer rights the server does not start', async () => {
    const guide = readFileSync(`${root}/docs/guides/redis.md`, 'utf8')
    const [, rights = ''] = /`user grantry on >the-password (~grantry:\* [^`]+)`/u.exec(guide) ?? []
    const path = file({ driver: 'redis', url: redis.url.replace('://', '://grantry:the-password@') })
    const allow = (list: readonly string[]) =>
      redis.command('ACL', 'SETUSER', 'grantry', 'reset', 'on', '>the-password', ...list)
    const ofStore = async () =>
      JSON.parse((await printed('check', '--json', '--config', path)).out).findings.filter(
        ({ where }: { where: string }) => where === 'storage',
      )
    await allow(rights.split(' '))
    expect(await ofStore()).toEqual([])
    await allow(rights.split(' ').filter((right) => right !== '+time'))
    expect(await ofStore()).toEqual([])
    await allow(rights.split(' ').filter((right) => right !== '+eval'))
    expect(await ofStore()).toMatchObject([{ id: 'store-unusable', reason: expect.stringMatching(/NOPERM .*'eval'/u) }])
    const { code, err } = await printed('serve', '--port', '0', '--config', path)
    expect([code, err]).toEqual([1, expect.stringMatching(/^grantry: [^\n]+ NOPERM [^\n]+\n$/u)])
  }, 60_000)

  test('with an eviction policy the doctor says what it would cost', async () => {
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    const { code, out } = await printed('check', '--json', '--config', file({ driver: 'redis', url: redis.url }))
    expect(code).toBe(1)
    expect(JSON.parse(out).findings).toContainEqual(
      expect.objectContaining({ id: 'store-evicts', severity: 'error', where: 'storage' }),
    )
  }, 60_000)
})

describe('grantry purge', () => {
  test('removes from files what has expired, and only that', async () => {
    const storage = directories()
    const path = file(storage)
    const { filesystemDriver } = await import('@grantry/storage-drivers/filesystem')
    const driver = filesystemDriver(storage)
    await driver.setItem('a:1', '{}', { ttl: 0.001 })
    await driver.setItem('a:2', '{}', { ttl: 3600 })
    await expect.poll(() => driver.getItem('a:1')).toBeNull()
    expect(await printed('purge', '--config', path)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^1 expired item was removed \(/u),
    })
    expect((await printed('purge', '--config', path)).out).toMatch(/^0 expired items were removed/u)
    expect(await driver.getItem('a:2')).toBe('{}')
    await driver.dispose()
  })

  test.each([
    ['redis', { driver: 'redis', url: 'redis://127.0.0.1:1' }],
    ['memory', { driver: 'memory' }],
  ])('on %s says that there is nothing to do', async (_what, storage) => {
    const { code, out } = await printed('purge', '--config', file(storage))
    expect([code, out]).toEqual([0, expect.stringMatching(/by itself: there is nothing to do\.\n$/u)])
  })
})

describe('grantry token inspect', () => {
  test('tells of each kind what it is, what it says and whether it counts, and never repeats it', async () => {
    const path = file(directories())
    const { login, refresh } = await serve(path)
    const { access_token: jwt } = await login('web-jwt')
    const { access_token: reference, refresh_token: rotated } = await login()
    await refresh(rotated)
    const inspect = async (token: string) => (await printed('token', 'inspect', '--config', path, '--', token)).out
    const told = [await inspect(jwt), await inspect(reference), await inspect(rotated), await inspect('made-up')]
    expect(told[0]).toMatch(/^access token, a JWT; valid now\n/u)
    expect(told[1]).toMatch(/^access token, a reference into the store; valid now\n/u)
    expect(told[2]).toMatch(/^refresh token, a reference into the store; not valid: it was used already\n/u)
    expect(told[3]).toBe(
      'unknown; not valid: nobody knows it: it was never issued here, has ended long ago, or was revoked\n',
    )
    for (const text of told.slice(0, 3)) {
      expect(text).toMatch(/\n {2}sub {11}1 {3}# whom it is about: the user\n/u)
      expect(text).toMatch(/\n {2}exp {11}\d{4}-\d\d-\d\dT[\d:.]+Z \(in \d+ (?:min|h|days)\) {3}# when it ends\n/u)
      for (const token of [jwt, reference, rotated]) expect(text).not.toContain(token)
    }
    await printed('revoke', '--subject', '1', '--config', path)
    expect(await inspect(jwt)).toContain('not valid: everything of its user was revoked after it began')
  }, 60_000)

  test('reads the token from standard input, where no other user sees it', async () => {
    const path = file(directories())
    const { login } = await serve(path)
    const { access_token } = await login('web-jwt')
    const { code, out } = await run(['token', 'inspect', '-', '--config', path], root, { input: `${access_token}\n` })
    expect([code, out]).toEqual([0, expect.stringMatching(/^access token, a JWT; valid now\n/u)])
    const empty = await run(['token', 'inspect', '-', '--config', path], root, { input: '\n' })
    expect([empty.code, empty.err]).toEqual([1, expect.stringContaining('grantry: the token is empty')])
  }, 60_000)

  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const jwt = `${part({ alg: 'none' })}.${part({ sub: 'x\u001B[2J', name: 'a\u202Eb', exp: 1 })}.x`

  test('with the storage out of reach says so plainly, and what the JWT says of itself', async () => {
    const path = file({ driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.1 })
    const { code, out } = await printed('token', 'inspect', jwt, '--config', path)
    expect(code).toBe(0)
    expect(out).toMatch(/^A JWT; nobody has checked its signature or whether it was revoked: [^\n]*storage/u)
    expect(out).toContain('1970-01-01T00:00:01.000Z')
    for (const obeyed of ['\u001B', '\u202E']) expect(out).not.toContain(obeyed)
    expect((await printed('token', 'inspect', 'abc', '--config', path)).out).toMatch(
      /^Not a JWT, so only the store could tell/u,
    )
  })

  test('that begins with a dash is a token all the same, and is not repeated', async () => {
    for (const token of ['-Yg6VJ0mYtyBLo', '--Yg6VJ0mYtyBLo']) {
      const { out, err } = await printed('token', 'inspect', token, '--config', file(directories()))
      expect([out, err]).toEqual([expect.stringMatching(/^unknown; not valid/u), ''])
    }
  })

  test('neither believes names that every object has, nor lets a claim turn the text of the terminal round', async () => {
    const claims = {
      constructor: 'x',
      toString: 'y',
      sub: 'nimda\u202E',
      scope: '\u2066a\u2028b\u009B31m',
      '\u200Fiss': 'z',
    }
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
    const hostile = `${part({ alg: 'none' })}.${part(claims)}.x`
    const { out } = await printed('token', 'inspect', hostile, '--config', file(directories()))
    expect(out).toContain('  constructor   x\n')
    expect(out).toContain('  toString      y\n')
    expect(out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\u2028\u2029]/u)
  })

  test('with a configuration that is not there ends with 1', async () => {
    expect((await printed('token', 'inspect', jwt, '--config', join(base, 'nowhere.json'))).code).toBe(1)
  })
})

test('--help names every command, and that of a token warns of arguments', async () => {
  const { out } = await printed('--help')
  for (const command of ['serve', 'init', 'check', 'token', 'revoke', 'purge'])
    expect(out).toMatch(new RegExp(`^ {2}${command} `, 'mu'))
  expect((await printed('token', 'inspect', '--help')).out.replaceAll(/\s+/gu, ' ')).toContain(
    'other users of this machine see',
  )
})
