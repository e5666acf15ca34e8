import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { withEnvironment } from '../../packages/server/src/configuration/environment.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-environment-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const file = join(directory, 'password')
const configuration = { storage: { password: ['$', '{GRANTRY_TEST_PASSWORD}'].join('') } }

describe('a reference to a variable that is not set', () => {
  test.each([
    ['without an end of line', 'correct horse', 'correct horse'],
    ['and one end of line after it', 'correct horse\n', 'correct horse'],
    ['and one of Windows', 'correct horse\r\n', 'correct horse'],
    ['whose own end is an empty line', 'correct horse\n\n', 'correct horse\n'],
  ])('is what the file holds that NAME_FILE names, %s', (_, text, value) => {
    writeFileSync(file, text)
    expect(withEnvironment(configuration, { GRANTRY_TEST_PASSWORD_FILE: file })).toEqual({
      storage: { password: value },
    })
  })

  test('is not looked for in a file where the variable is set, be it empty', () => {
    const environment = { GRANTRY_TEST_PASSWORD: '', GRANTRY_TEST_PASSWORD_FILE: join(directory, 'missing') }
    expect(withEnvironment(configuration, environment)).toEqual({ storage: { password: '' } })
  })

  test('is refused with its path when the file cannot be read', () => {
    const missing = join(directory, 'missing')
    expect(() => withEnvironment(configuration, { GRANTRY_TEST_PASSWORD_FILE: missing })).toThrow(
      `storage.password needs the file that GRANTRY_TEST_PASSWORD_FILE names, ${missing}, which cannot be read (ENOENT)`,
    )
  })

  // What every object has is known to everybody, and long enough for a secret.
  test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'is refused also when it is called %s',
    (name) => {
      expect(() => withEnvironment({ keys: { encryptionSecret: ['$', `{${name}}`].join('') } }, {})).toThrow(
        `keys.encryptionSecret needs the environment variable ${name}, which is not set`,
      )
    },
  )

  test('is refused with its path when there is no file either', () => {
    expect(() => withEnvironment(configuration, {})).toThrow(
      'storage.password needs the environment variable GRANTRY_TEST_PASSWORD, which is not set',
    )
  })
})
