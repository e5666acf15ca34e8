// Users of a file: their names, and passwords that count for new users only.
import { createPasswordCheck, parsePasswordHash } from '@grantry/users/password-hash'
import { afterEach, expect, test, vi } from 'vitest'
import { sharedDirectory } from '../support/directory.ts'
import { foreignHashes } from '../users/hash-vectors.ts'
import { newService } from './setting.ts'

const directory = sharedDirectory('declared-users')
afterEach(() => void vi.unstubAllEnvs())

const hash = foreignHashes['bcrypt $2b$']
const alice = (more: object = {}) => ({ sub: 'u1', username: 'alice', ...more })

const usersIn = async (out: (...line: readonly string[]) => Promise<string>) =>
  JSON.parse(await out('export', '--with-hashes')).users

test('the password of a file is the first one: a later apply does not set it again', async () => {
  const { out, write } = newService(directory)
  const first = await out('apply', write({ users: [alice({ password: hash, claims: { role: ['a', 'b'] } })] }), '--yes')
  expect(first).toContain('    + password: set\n')
  expect(first).not.toContain('$2b$')
  const newHash = foreignHashes['bcrypt $2a$']
  expect(
    await out('apply', write({ users: [alice({ password: newHash, claims: { role: ['a', 'b'] } })] }), '--yes'),
  ).toContain('Nothing to do')
  // Lists in claims have an order.
  const file = write({ users: [alice({ claims: { role: ['b', 'a'] } })] })
  expect(await out('apply', file, '--yes')).toContain('~ claims: {"role":["a","b"]} -> {"role":["b","a"]}')
  expect(await usersIn(out)).toEqual([alice({ password: hash, claims: { role: ['b', 'a'] } })])
})

test('a password is a hash, or a reference to a password', async () => {
  vi.stubEnv('P_PASSWORD', 'correct horse battery')
  const { out, run, write } = newService(directory)
  const file = write({ users: [alice({ password: { value: `\${P_PASSWORD}` } })] })
  await out('apply', file, '--yes')
  const [{ password }] = await usersIn(out)
  const parsed = parsePasswordHash(password)
  expect(parsed).toBeDefined()
  if (parsed !== undefined) expect(await createPasswordCheck([parsed])('correct horse battery', parsed)).toBe(true)
  expect(await out('plan', file)).toContain('1 unchanged')
  for (const plain of ['correct horse battery', { value: 'correct horse battery' }]) {
    const { code, err } = await run('plan', write({ users: [alice({ password: plain })] }))
    expect(code).toBe(1)
    expect(err).toMatch(/users\[0\](?:: user u1: password: must be a hash|\.password\.value must be a variable)/u)
    expect(err).not.toContain('horse')
  }
})

test('a user whom a command has disabled stays disabled', async () => {
  const { out, write } = newService(directory)
  await out('apply', write({ users: [alice({ active: false })] }), '--yes')
  await out('apply', write({ users: [alice({ claims: { name: 'Alice' } })] }), '--yes')
  expect(await usersIn(out)).toEqual([alice({ active: false, claims: { name: 'Alice' } })])
})

test('names belong to one user each, and are checked before anything is written', async () => {
  const { out, run, write } = newService(directory)
  await out('apply', write({ users: [alice()] }), '--yes')
  const cases = [
    [[alice(), { sub: 'u2', username: 'ALICE' }], ': users[1]: the name ALICE is that of '],
    [
      [{ sub: 'u2', username: 'Alice' }],
      ': users[0]: the user u1 in the storage has the name Alice; change that user first',
    ],
    [[{ sub: 'u2', username: ' x' }], ': users[0]: user u2: username must not start or end with a space'],
    [[{ sub: 'u2', username: 'bob', role: 'x' }], ': users[0]: user u2: role is not a known member'],
  ] as const
  for (const [users, sentence] of cases) {
    const { code, err } = await run('apply', write({ users, scopes: [{ name: 'new' }] }), '--yes')
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining(sentence) })
  }
  expect(JSON.parse(await out('export'))).toMatchObject({ scopes: [], users: [alice()] })
})
