// Attack: a secret that an operator pastes where the name of an option belongs must not be printed.
import { describe, expect, test } from 'vitest'
import { healthy, written } from './doctor/configurations.ts'
import { printed } from './printed.ts'

const secret = 'pX3fM9vQ2-tLq8ZbN0yRk_5uHcWjSdEoGi7TaBxVnKw'
const hidden = '<name not shown: it could be a secret>'
const valid = { ...healthy, issuer: 'http://127.0.0.1:8484', storage: { driver: 'memory' }, keys: {} }
const unset = ['$', '{GRANTRY_TEST_UNSET}'].join('')

describe('a secret as the name of an option', () => {
  test.each<[string, object | string, string]>([
    ['at the top level', { ...valid, [secret]: 'x' }, `${hidden} is not a known option here`],
    ['of the storage', { ...valid, storage: { driver: 'sqlite', [secret]: 'x' } }, `storage.${hidden} is not a known`],
    [
      'of a plugin',
      { ...valid, plugins: [{ name: 'dpop', [secret]: 1 }] },
      `plugins[0] ("dpop").${hidden} is not a known`,
    ],
    ['of a user', { ...valid, users: [{ [secret]: 'x' }] }, `users[0].${hidden} is not a known`],
    [
      'with an unset variable',
      { ...valid, clients: [{ [secret]: unset }] },
      `clients[0].${hidden} needs the environment`,
    ],
    ['twice', `{ "${secret}": 1, "${secret}": 2 }`, `duplicate name "${hidden}", first used on line 1`],
  ])('%s is not printed', async (_where, configuration, sentence) => {
    const { file } = written(configuration)
    const { code, out, err } = await printed('serve', '--config', file)
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(sentence)
    expect(err).not.toContain(secret)
    const check = await printed('check', '--json', '--config', file)
    expect(check.code).toBe(1)
    expect(check.out + check.err).not.toContain(secret)
    expect(check.out).toContain(JSON.stringify(sentence).slice(1, -1))
  })

  test('does not hide the other mistakes from check', async () => {
    const clients = [{ ...healthy.clients[0], scopes: ['nonsense'] }]
    const { file } = written({ ...valid, [secret]: 'x', clients })
    const { out } = await printed('check', '--json', '--config', file)
    expect(out).toContain(`${hidden} is not a known option here`)
    expect(out).toContain('has the scope nonsense')
  })
})
