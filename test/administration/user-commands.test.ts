// `grantry users`: what the commands print, that no password is in an argument or an output, and how they refuse wrong input.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { printed, printedWith } from '../server/printed.ts'
import { sharedDirectory } from '../support/directory.ts'
import { quickHash } from './stored-user-setting.ts'

const directory = sharedDirectory('user-commands')
const password = 'correct horse battery'

let count = 0
function newService(more: object = {}) {
  count += 1
  const file = join(directory, `c${count}.json`)
  const storage = { driver: 'filesystem', directory: `./data${count}`, fsync: false }
  const setting = { issuer: 'http://127.0.0.1:8484', storage, administration: true, clients: [], ...more }
  writeFileSync(file, JSON.stringify(setting), { mode: 0o600 })
  const run = (...line: readonly string[]) => printed('users', ...line, '--config', file)
  const withInput = (input: string, ...line: readonly string[]) =>
    printedWith({ input }, 'users', ...line, '--config', file)
  return {
    file,
    run,
    withInput,
    async json(...line: readonly string[]) {
      const { code, out, err } = await withInput(`${password}\n`, ...line, '--json')
      expect({ code, err }).toEqual({ code: 0, err: '' })
      return JSON.parse(out)
    },
    audit: async () => JSON.parse((await printed('audit', '--json', '--config', file)).out),
  }
}

describe('grantry users', () => {
  test('add reads the password from standard input, and no command and no record shows it or its hash', async () => {
    const { run, json, withInput, audit } = newService()
    const { out, code } = await withInput(
      `${password}\n`,
      'add',
      'alice',
      '--claim',
      'email=alice@example.com',
      '--tag',
      'staff',
    )
    expect(code).toBe(0)
    const [, sub = ''] = /^Added the user alice\.\nsub {2}([0-9a-f]{32})\n$/u.exec(out) ?? []
    const user = await json('show', 'ALICE')
    expect(user).toMatchObject({
      sub,
      username: 'alice',
      claims: { email: 'alice@example.com' },
      password: true,
      tags: ['staff'],
    })
    await withInput(`${password}!\n`, 'set-password', sub)
    const texts = [await run('show', sub), await run('list'), await run('search', 'al')].map(
      (ended) => ended.out + ended.err,
    )
    const all = [...texts, out, JSON.stringify([user, await audit()])].join('\n')
    for (const hidden of [password, '$argon2id$']) expect(all).not.toContain(hidden)
    expect((await audit()).map(({ action }: { action: string }) => action)).toEqual([
      'user_password_changed',
      'user_added',
    ])
  })

  test('add takes members and a hash from a file', async () => {
    const { run, json } = newService()
    const file = join(directory, 'user.json')
    writeFileSync(file, JSON.stringify({ password: quickHash, claims: { age: 42, name: 'Bob' } }))
    expect((await run('add', 'bob', '--file', file, '--sub', 'b', '--claim', 'name=Robert')).code).toBe(0)
    expect(await json('show', 'b')).toMatchObject({ sub: 'b', claims: { age: 42, name: 'Robert' }, password: true })
    expect((await run('add', 'carol', '--no-password')).code).toBe(0)
    expect(await json('show', 'carol')).not.toHaveProperty('password')
  })

  test('list and search show tables, and continue', async () => {
    const { run, json } = newService()
    for (const [sub, name] of ['alice', 'Albert', 'bob'].entries())
      await run('add', name, '--no-password', '--sub', `s${sub}`)
    await run('disable', 's1')
    const { out } = await run('list', '--limit', '2')
    expect(out.split('\n').map((line) => line.split(/ {2,}/u).slice(0, 5))).toEqual([
      ['SUB', 'STATE', 'NAME', 'PASSWORD', 'TAGS'],
      ['s0', 'enabled', 'alice', 'no', '-'],
      ['s1', 'disabled', 'Albert', 'no', '-'],
      ['There are more: continue with --after "s1"'],
      [''],
    ])
    const namesOf = async (...line: readonly string[]) =>
      (await json(...line)).users.map(({ username }: { username: string }) => username)
    expect(await namesOf('list', '--after', 's1')).toEqual(['bob'])
    expect(await namesOf('list', '--disabled')).toEqual(['Albert'])
    expect(await namesOf('search', 'AL')).toEqual(['Albert', 'alice'])
    expect((await json('search', 'al', '--limit', '1')).next).not.toBeNull()
  })

  test('edit changes the name and single claims, at the version that the administrator has seen', async () => {
    const { run, json } = newService()
    const { version } = await json('add', 'alice', '--claim', 'name=Alice', 'email=a@example.com')
    expect(
      (await run('edit', 'alice', '--username', 'alicia', '--claim', 'name=Alicia', '--if-version', version)).code,
    ).toBe(0)
    expect(await json('edit', 'alicia', '--unset-claim', 'email')).toMatchObject({
      username: 'alicia',
      claims: { name: 'Alicia' },
    })
    expect((await run('show', 'alice')).err).toContain('there is no user with the sub or the name alice')
    expect((await run('edit', 'alicia', '--username', 'a', '--if-version', version)).err).toContain(
      'was changed meanwhile',
    )
    expect(await json('edit', 'alicia', '--unset', 'claims')).not.toHaveProperty('claims')
  })

  test('remove frees the name, and not the sub', async () => {
    const { run, json } = newService()
    await run('add', 'alice', '--no-password', '--sub', 'a')
    expect(await json('remove', 'alice')).toEqual({ sub: 'a', removed: true })
    expect((await run('add', 'bob', '--no-password', '--sub', 'a')).err).toContain('the sub a is used up')
    expect((await run('add', 'alice', '--no-password')).code).toBe(0)
  })

  test('refuses a user who is meant in two ways', async () => {
    const { run } = newService()
    await run('add', 'alice', '--no-password', '--sub', 'bob')
    await run('add', 'bob', '--no-password', '--sub', 'b')
    expect((await run('disable', 'bob')).err).toContain(
      'bob is the sub of one user and the name of another one (sub b)',
    )
    expect((await run('disable', 'alice')).code).toBe(0)
  })
})

describe('wrong input is refused with one sentence, and writes nothing', () => {
  const secret = 'hunter2-hunter2'
  const cases: readonly (readonly [input: string, line: readonly string[], sentence: string])[] = [
    [`${password}\n`, ['add', 'Alice'], 'there is a user with the name Alice already (sub a)'],
    [`${password}\n`, ['add', 'CAROL'], 'users has a user with the name carol already; edit it there'],
    [`${password}\n`, ['add', 'x', '--sub', 'c'], 'users has a user with the sub c already; edit it there'],
    [`${password}\n`, ['add', 'x', '--sub', 'a'], 'there is a user a already'],
    [`${password}\n`, ['add', 'x\ny'], 'must not contain line breaks'],
    ['short\n', ['add', 'x'], 'the password must have 8 to 1024 characters'],
    ['', ['add', 'x'], 'the password is empty'],
    ['short\n', ['set-password', 'alice'], 'the password must have 8 to 1024 characters'],
    ['', ['add', 'x', '--password', secret], 'a password on the command line is visible to other users'],
    ['', ['add', 'x', `--password=${secret}`], 'a password on the command line is visible to other users'],
    ['', ['set-password', 'alice', secret], 'too many arguments'],
    ['', ['edit', 'alice', '--set', `password="${secret}"`], '--set cannot set a password'],
    ['{"password":"hunter2-hunter2"}', ['edit', 'alice', '--file', '-'], 'edit cannot set a password'],
    ['{"password":"hunter2-hunter2"}', ['add', 'x', '--file', '-'], 'password: must be a hash like'],
    ['{}', ['add', 'x', '--file', '-'], 'standard input has the members, so it cannot have the password'],
    ['', ['edit', 'alice', '--claim', 'email'], '--claim takes a name and a text'],
    ['', ['edit', 'alice', '--set', 'activ=true'], 'did you mean active?'],
    ['', ['edit', 'alice', '--set', 'active="no"'], 'active must be true or false'],
    ['', ['edit', 'alice'], 'nothing to change'],
    [
      '',
      ['show', 'unknown'],
      'there is no user with the sub or the name unknown in the configuration or in the storage',
    ],
    ['', ['list', '--limit', '0'], 'It must be a number from 1 to 999999.'],
    ['', ['sessions', 'list', 'alice'], 'no plugin signs users in'],
    ['', ['second-factors', 'reset', 'alice'], 'no plugin of this server can reset second factors'],
  ]

  test.each(cases)('%j %j', async (input, line, sentence) => {
    const users = [{ sub: 'c', username: 'carol', password: quickHash }]
    const { run, json, withInput, audit } = newService({ users })
    await run('add', 'alice', '--no-password', '--sub', 'a')
    const [before, trail] = [await json('list'), await audit()]
    const { code, out, err } = await withInput(input, ...line)
    expect({ failed: code !== 0, out }).toEqual({ failed: true, out: '' })
    expect(err).toContain(sentence)
    expect(err).not.toContain('hunter2')
    expect(err.trimEnd().split('\n')).toHaveLength(1)
    expect([await json('list'), await audit()]).toEqual([before, trail])
  })

  test('with users of a module, and without "administration"', async () => {
    const withoutUsers = newService({ users: {} })
    for (const line of [['list'], ['add', 'alice', '--no-password'], ['disable', 'alice']])
      expect((await withoutUsers.run(...line)).err).toContain(
        'users come from a user service, which this command cannot list or change; change them where',
      )
    expect((await newService({ administration: false }).run('list')).err).toContain('set "administration": true')
  })
})

test('a server does not start with a user, or a name, in the configuration and in the storage', async () => {
  const { file, run } = newService()
  await run('add', 'Alice', '--no-password', '--sub', 'a')
  const setting = JSON.parse(readFileSync(file, 'utf8'))
  for (const [user, sentence] of [
    [{ sub: 'a', username: 'x' }, 'users: the user with the sub a is in the storage, too'],
    [{ sub: 'x', username: 'aLICE' }, 'users: the name aLICE belongs to a user in the storage, too (sub a)'],
  ] as const) {
    writeFileSync(file, JSON.stringify({ ...setting, users: [{ ...user, password: quickHash }] }))
    const { code, err } = await printed('serve', '--config', file, '--port', '0')
    expect(code).toBe(1)
    expect(err).toContain(sentence)
  }
})

test('grantry revoke knows the users in the storage', async () => {
  const { file, run } = newService()
  await run('add', 'alice', '--no-password', '--sub', 'a')
  expect(await printed('revoke', '--subject', 'a', '--config', file)).toMatchObject({ code: 0, err: '' })
  expect((await printed('revoke', '--subject', 'aLICE', '--config', file)).out).toContain(
    'to the subject a (alice), and',
  )
})
