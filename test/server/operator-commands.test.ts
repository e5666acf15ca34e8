import { mkdtempSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { describeWithRedis } from '../support/redis-describe.ts'
import { type RedisServer, startRedis } from '../support/redis-server.ts'
import { base, directories, file, serve } from './operator-server.ts'
import { printed } from './printed.ts'
import { root } from './running-command.ts'
import { run } from './running-program.ts'

async function revokesWhileServerRuns(path: string): Promise<void> {
  const { login, isActive, refresh, inspect } = await serve(path)
  for (const id of ['web', 'web-jwt']) {
    for (const target of [['--subject', '1'], ['--client', id], ['--family']]) {
      const issued = await login(id)
      const later = await login(id)
      const { family = '' } = await inspect(issued.refresh_token)
      const parameters = target.length === 1 ? [...target, family] : target
      expect(await printed('revoke', ...parameters, '--config', path)).toMatchObject({
        code: 0,
        err: '',
        out: expect.stringMatching(/^Revoked (?:everything|the family) [^\n]*\n$/u),
      })
      expect([parameters[0], await isActive(issued.access_token), await refresh(issued.refresh_token, id)]).toEqual([
        parameters[0],
        false,
        400,
      ])
      expect([parameters[0], await isActive(later.access_token)]).toEqual([parameters[0], parameters[0] === '--family'])
      const fresh = await login(id)
      expect([await isActive(fresh.access_token), await refresh(fresh.refresh_token, id)]).toEqual([true, 200])
    }
  }
}

describe('grantry revoke', () => {
  test('on files: applies immediately to the running server, and new logins work', () =>
    revokesWhileServerRuns(file(directories())))

  test.each([
    ['--client', 'wbe', 'no client wbe is configured; check the spelling'],
    [
      '--subject',
      'bob',
      'there is no user with the sub or the name bob in the configuration or in the storage; check the spelling',
    ],
  ])('with an unknown name, %s %s, revokes anyway, but does not claim success', async (option, name, problem) => {
    expect(await printed('revoke', option, name, '--config', file(directories()))).toEqual({
      code: 1,
      err: '',
      out: `Nothing was found to revoke: ${problem}.\nIf anything was ever issued to ${name}, it is refused from now on.\n`,
    })
  })

  test('resolves the name of a user', async () => {
    const { code, out } = await printed('revoke', '--subject', 'alice', '--config', file(directories()))
    expect([code, out]).toEqual([
      0,
      'Revoked everything issued so far to the subject 1 (alice), and ended 0 sessions. The user can log in again.\n',
    ])
  })

  test('in memory fails with one line', async () => {
    const { code, out, err } = await printed('revoke', '--subject', '1', '--config', file({ driver: 'memory' }))
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^grantry: .*storage\.driver is memory, which only the server process can access; [^\n]+\n$/u)
  })

  test('with an unreachable storage exits with 1 and does not report success', async () => {
    const path = file({ driver: 'redis', url: 'redis://127.0.0.1:1', operationTimeout: 0.1 })
    const { code, out, err } = await printed('revoke', '--subject', '1', '--config', path)
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^grantry: [^\n]*storage[^\n]+\n$/u)
  })

  // Otherwise it would report success on the empty store of the demo.
  test('without a configuration exits with 1', async () => {
    const { code, out, err } = await run(['revoke', '--subject', '1'], mkdtempSync(join(base, 'empty-')))
    expect([code, out]).toEqual([1, ''])
    expect(err).toMatch(/^grantry: no configuration in [^\n]+\n$/u)
  })

  test.each([[[]], [['--subject']], [['--subject', '']], [['--user', '1']]])('%j is wrong usage', async (args) => {
    const { code, out, err } = await printed('revoke', ...args)
    expect([code, out]).toEqual([2, ''])
    expect(err).not.toBe('')
  })
})

describeWithRedis('grantry revoke on Redis', () => {
  let redis: RedisServer
  afterAll(() => redis?.stop())
  test('applies immediately to the running server, and the doctor finds no problem with the store', async () => {
    redis = await startRedis()
    const path = file({ driver: 'redis', url: redis.url })
    await revokesWhileServerRuns(path)
    const { findings } = JSON.parse((await printed('check', '--json', '--config', path)).out)
    expect(findings.filter(({ id }: { id: string }) => id.startsWith('store-'))).toEqual([])
  })

  // Limits need more rights than tokens. Without them each wrong secret would get 503.
  test('with the rights from the guide the doctor finds no problem, and with fewer rights the server does not start', async () => {
    const guide = readFileSync(`${root}/docs/guides/redis.md`, 'utf8')
    const [, rights = ''] = /^user grantry on >the-password (~grantry:\* .+)$/mu.exec(guide) ?? []
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
  })

  test('with an eviction policy the doctor reports an error', async () => {
    await redis.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru')
    const { code, out } = await printed('check', '--json', '--config', file({ driver: 'redis', url: redis.url }))
    expect(code).toBe(1)
    expect(JSON.parse(out).findings).toContainEqual(
      expect.objectContaining({ id: 'store-evicts', severity: 'error', where: 'storage' }),
    )
  })
})

describe('grantry purge', () => {
  test('deletes only expired items from files', async () => {
    const storage = directories()
    const path = file(storage)
    const { filesystemDriver } = await import('@grantry/storage-drivers/filesystem')
    const writer = filesystemDriver(storage)
    await writer.setItem('a:2', '{}', { ttl: 3600 })
    await writer.setItem('a:1', '{}', { ttl: 1 })
    // Each write sweeps a few directories, which must not find the item after its end.
    await writer.dispose()
    const driver = filesystemDriver(storage)
    await expect.poll(() => driver.getItem('a:1')).toBeNull()
    expect(await printed('purge', '--config', path)).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^Deleted 1 expired item \(/u),
    })
    expect((await printed('purge', '--config', path)).out).toMatch(/^Deleted 0 expired items \(/u)
    expect(await driver.getItem('a:2')).toBe('{}')
    await driver.dispose()
  })

  test.each([
    ['redis', { driver: 'redis', url: 'redis://127.0.0.1:1' }],
    ['memory', { driver: 'memory' }],
  ])('on %s prints that there is nothing to do', async (_what, storage) => {
    const { code, out } = await printed('purge', '--config', file(storage))
    expect([code, out]).toEqual([0, expect.stringMatching(/^Nothing to do: [^\n]+\n$/u)])
  })
})

test('--help lists every command, and the help for tokens warns of arguments', async () => {
  const { out } = await printed('--help')
  for (const command of ['serve', 'init', 'check', 'token', 'revoke', 'purge'])
    expect(out).toMatch(new RegExp(`^ {2}${command} `, 'mu'))
  expect((await printed('token', 'inspect', '--help')).out.replaceAll(/\s+/gu, ' ')).toContain(
    'other users of this machine can see',
  )
})
