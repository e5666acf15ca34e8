import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { withEnvironment } from '../../packages/server/src/configuration/environment.ts'

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
