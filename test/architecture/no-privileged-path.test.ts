import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endpointNames } from '@grantry/core'
import { expect, test } from 'vitest'

// What the core provides itself uses the same contract as a plugin: no file knows a grant type, a demand, a method of
// client authentication or an endpoint by its name, except the file that defines it.

const core = join(dirname(fileURLToPath(import.meta.url)), '../../packages/core/src')
const sources = readdirSync(core, { recursive: true, encoding: 'utf8' })
  .map((name) => name.split(/[\\/]/u).join(posix.sep))
  .filter((name) => name.endsWith('.ts'))
  .map(
    (name) => [name, readFileSync(join(core, name), 'utf8').replaceAll(/\/\*.*?\*\/|^\s*\/\/[^\n]*$/gmsu, '')] as const,
  )

const filesWith = (name: string): readonly string[] => {
  const literal = new RegExp(`['"\`]${name}['"\`]`, 'u')
  return sources.flatMap(([file, source]) => (literal.test(source) ? [file] : []))
}

const fileOf = (endpoint: string): string =>
  `endpoints/${endpoint.replace(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)}.ts`

test.each([
  ['client_secret_basic', ['credentials/methods.ts']],
  ['client_secret_post', ['credentials/methods.ts']],
  // Grant types. Those of token types (`refresh_token`) are also members of responses.
  ['client_credentials', []],
  ['password', []],
  // The kind of token that `inspect` reports.
  ['authorization_code', ['tokens/inspect.ts']],
  ['urn:ietf:params:oauth:grant-type:device_code', []],
  ['proof_key', []],
])('%s is named only where it is defined', (name, files) => {
  expect(filesWith(name)).toEqual(files)
})

// The words `token` and `jwks` have other meanings. The two documents of discovery have one file.
test.each(endpointNames.filter((name) => !['token', 'jwks', 'authorizationServerMetadata'].includes(name)))(
  'the endpoint %s is named only in its own file',
  (name) => {
    expect(filesWith(name)).toEqual([fileOf(name)])
  },
)

test('the core does not import a plugin, so each of these names would be the only link to one', () => {
  expect(sources.filter(([, source]) => source.includes('@grantry/plugins'))).toEqual([])
})
