import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { loadConfiguration } from '../../packages/server/src/configuration/load.ts'

const directory = mkdtempSync(join(tmpdir(), 'grantry-env-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const file = join(directory, 'grantry.config.json')
beforeEach(() => writeFileSync(file, JSON.stringify({ issuer: '$' + '{GRANTRY_TEST_ISSUER}', clients: [] })))

const issuerWith = async (content: string, environment = {}): Promise<string> => {
  writeFileSync(join(directory, 'grantry.env'), content)
  return (await loadConfiguration(file, environment)).configuration.issuer
}

describe('grantry.env next to the configuration', () => {
  test.each([
    ['plain', 'GRANTRY_TEST_ISSUER=https://a.example.com\n'],
    [
      'among comments and other variables, with Windows line breaks',
      '# why\r\n\r\nOTHER=1\r\nGRANTRY_TEST_ISSUER = https://a.example.com\r\n',
    ],
    ['exported and quoted', `export GRANTRY_TEST_ISSUER="https://a.example.com"`],
  ])('sets a variable: %s', async (_what, content) => {
    expect(await issuerWith(content)).toBe('https://a.example.com')
  })

  test('is overridden by the environment', async () => {
    const environment = { GRANTRY_TEST_ISSUER: 'https://b.example.com' }
    expect(await issuerWith('GRANTRY_TEST_ISSUER=https://a.example.com', environment)).toBe('https://b.example.com')
  })

  test('is overridden by a file that the environment names', async () => {
    const named = join(directory, 'issuer')
    writeFileSync(named, 'https://b.example.com\n')
    const environment = { GRANTRY_TEST_ISSUER_FILE: named }
    expect(await issuerWith('GRANTRY_TEST_ISSUER=https://a.example.com', environment)).toBe('https://b.example.com')
  })

  test('with a malformed line is reported in one line that does not quote it', async () => {
    const failure = await issuerWith('A=1\nthe-secret-alone\n').catch((error: Error) => error.message)
    expect(failure).toMatch(/grantry\.env: line 2 is not NAME=value$/u)
    expect(failure).not.toContain('the-secret-alone')
  })

  test('is mentioned in the error for a missing variable', async () => {
    await expect(issuerWith('A=1')).rejects.toThrow(
      'issuer needs the environment variable GRANTRY_TEST_ISSUER, which is not set; set it, or add it to grantry.env',
    )
  })
})
