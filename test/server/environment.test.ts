import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfiguration } from '@grantry/core'
import { afterAll, describe, expect, test } from 'vitest'
import { withEnvironment } from '../../packages/server/src/configuration/environment.ts'
import { configurationSchema } from '../support/configuration-schema.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-environment-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const file = join(directory, 'password')
const configuration = { storage: { password: ['$', '{GRANTRY_TEST_PASSWORD}'].join('') } }

describe('a reference to an unset variable', () => {
  test.each([
    ['without a line break', 'correct horse', 'correct horse'],
    ['without its final line break', 'correct horse\n', 'correct horse'],
    ['without its final Windows line break', 'correct horse\r\n', 'correct horse'],
    ['without only the last of two line breaks', 'correct horse\n\n', 'correct horse\n'],
  ])('reads the file that NAME_FILE names, %s', (_, text, value) => {
    writeFileSync(file, text)
    expect(withEnvironment(configuration, { GRANTRY_TEST_PASSWORD_FILE: file })).toEqual({
      storage: { password: value },
    })
  })

  test('does not read the file if the variable is set, even if it is empty', () => {
    const environment = { GRANTRY_TEST_PASSWORD: '', GRANTRY_TEST_PASSWORD_FILE: join(directory, 'missing') }
    expect(withEnvironment(configuration, environment)).toEqual({ storage: { password: '' } })
  })

  test('is rejected with its path if the file cannot be read', () => {
    const missing = join(directory, 'missing')
    expect(() => withEnvironment(configuration, { GRANTRY_TEST_PASSWORD_FILE: missing })).toThrow(
      `storage.password: cannot read the file ${missing}, named by GRANTRY_TEST_PASSWORD_FILE (ENOENT)`,
    )
  })

  // The inherited properties of objects are public, and long enough for a secret.
  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'is rejected even if it is named %s',
    (name) => {
      expect(() => withEnvironment({ keys: { encryptionSecret: ['$', `{${name}}`].join('') } }, {})).toThrow(
        `keys.encryptionSecret needs the environment variable ${name}, which is not set`,
      )
    },
  )

  test('is rejected with its path if there is no file either', () => {
    expect(() => withEnvironment(configuration, {})).toThrow(
      'storage.password needs the environment variable GRANTRY_TEST_PASSWORD, which is not set',
    )
  })
})

const referenceTo = (name: string): string => ['$', `{${name}}`].join('')

describe('a variable in a URL', () => {
  const password = 'p/a#s?s%41 w:o@r&d+é[x]\\'

  test.each(['smtps', 'smtp', 'postgresql', 'postgres', 'redis', 'rediss', 'https'])(
    'is the password of a %s URL, with all its characters',
    (scheme) => {
      const text = `${scheme}://${referenceTo('NAME')}:${referenceTo('PASS')}@${referenceTo('HOST')}:99/${referenceTo('PATH_OF')}`
      const environment = { NAME: 'i/d@x', PASS: password, HOST: 'db.example.com', PATH_OF: 'a/b' }
      const url = new URL(String(withEnvironment(text, environment)))
      expect([url.username, url.password].map(decodeURIComponent)).toEqual(['i/d@x', password])
      expect([url.hostname, url.port, url.pathname]).toEqual(['db.example.com', '99', '/a/b'])
    },
  )

  test.each([
    ['a part of the password', `redis://:a-${referenceTo('X')}-b@host/0`, 'redis://:a-%2F%25-b@host/0'],
    ['in each of several', `redis://${referenceTo('X')}:${referenceTo('X')}@host`, 'redis://%2F%25:%2F%25@host'],
    ['with a scheme of a variable', `${referenceTo('S')}://a:${referenceTo('X')}@host`, 'smtp://a:%2F%25@host'],
    ['before the last @ of several', `smtp://a@b:${referenceTo('X')}@host`, 'smtp://a@b:%2F%25@host'],
    ['the whole URL', referenceTo('URL_OF'), 'smtp://a:%2F@host'],
    ['the host', `smtp://${referenceTo('X')}`, 'smtp:///%'],
    ['behind the host', `https://a@host/${referenceTo('X')}@x`, 'https://a@host//%@x'],
    ['in a query', `https://host?x=${referenceTo('X')}@y`, 'https://host?x=/%@y'],
    ['in a text that is no URL', `Example ${referenceTo('X')}@host`, 'Example /%@host'],
    ['a text with two dollar signs', `smtp://a:$${referenceTo('X')}@host`, `smtp://a:${referenceTo('X')}@host`],
  ])('%s', (_, text, expected) => {
    expect(withEnvironment(text, { X: '/%', S: 'smtp', URL_OF: 'smtp://a:%2F@host' })).toBe(expected)
  })
})

describe('a number of the server from a variable', () => {
  const parsed = (more: object) =>
    parseConfiguration(configurationSchema, { issuer: 'https://id.example.com', clients: [], ...more }, '')

  const columns = { sub: 'id', username: 'email', password: 'hash' }
  const table = { driver: 'sql', file: 'app.db', table: 'accounts', columns }

  test('is the number that the text has', () => {
    const text = withEnvironment(
      {
        metrics: { port: referenceTo('PORT') },
        trustedProxies: referenceTo('PROXIES'),
        idleTimeout: referenceTo('IDLE'),
        clockTolerance: referenceTo('PROXIES'),
        bodyLimit: referenceTo('PORT'),
        keys: { rotateAfter: referenceTo('IDLE') },
        users: { ...table, maxConnections: referenceTo('PROXIES'), operationTimeout: referenceTo('PROXIES') },
        storage: { driver: 'postgresql', url: 'postgresql://a@b/c', operationTimeout: '0.5' },
      },
      { PORT: '9464', PROXIES: '1', IDLE: '620' },
    )
    expect(parsed(text as object)).toMatchObject({
      metrics: { port: 9464 },
      trustedProxies: 1,
      idleTimeout: 620,
      clockTolerance: 1,
      bodyLimit: 9464,
      keys: { rotateAfter: 620 },
      users: { maxConnections: 1, operationTimeout: 1 },
      storage: { operationTimeout: 0.5 },
    })
  })

  test.each(['', ' ', '-1', '1e3', '0x10', '1.5', 'Infinity', '99999', '١', '9464 ', 'true'])('%j is none', (text) => {
    expect(() => parsed({ metrics: { port: text } })).toThrow('metrics.port must be a port')
    expect(() => parsed({ trustedProxies: text === '99999' ? 'x' : text })).toThrow('trustedProxies must be')
  })
})
