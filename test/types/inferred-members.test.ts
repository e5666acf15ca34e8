// A reader sees in an editor what a member or an option is for, although its type is inferred from its declaration.
import { join } from 'node:path'
// The TypeScript that checks this repository has no language service.
import ts from 'typescript-oldest'
import { describe, expect, test } from 'vitest'
import { root } from '../docs/code-blocks.ts'

const file = join(root, 'test/types/edited.ts')
const text = `
import type { ClientOptions } from '@grantry/core'
import '@grantry/plugins/proof-key'
import '@grantry/plugins/authorization-endpoint'
import { deviceAuthorization } from '@grantry/plugins/device-authorization'
import { pushedAuthorization } from '@grantry/plugins/pushed-authorization'
import { storedSecondFactors } from '@grantry/plugins/one-time-password'
export const client: ClientOptions = { clientId: 'web', requirePkce: true, clientColor: '#123456' }
pushedAuthorization({ required: true })
deviceAuthorization({ verificationUri: 'https://example.com/device' })
storedSecondFactors({ encryptionSecrets: [] })
`

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  customConditions: ['@grantry/source'],
  lib: ['lib.es2022.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  types: [],
  strict: true,
  exactOptionalPropertyTypes: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
}

const host: ts.LanguageServiceHost = {
  getCompilationSettings: () => options,
  getScriptFileNames: () => [file],
  getScriptVersion: () => '1',
  getScriptSnapshot(path) {
    const content = path === file ? text : ts.sys.readFile(path)
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (path) => path === file || ts.sys.fileExists(path),
  readFile: ts.sys.readFile,
  directoryExists: ts.sys.directoryExists,
  realpath: ts.sys.realpath ?? ((path) => path),
}

describe('an editor', () => {
  const service = ts.createLanguageService(host)

  test.each([
    ['requirePkce', 'Whether every authorization of a client with a secret needs PKCE', 'boolean | undefined'],
    ['clientColor', 'The colour of buttons on pages about the application', 'string | undefined'],
    ['required', 'Whether every client must push its requests. Default: `false`.', 'boolean | undefined'],
    ['verificationUri', 'Short, because people type it.', 'string | undefined'],
    ['encryptionSecrets', 'The first one encrypts, all decrypt.', 'readonly string[]'],
  ])('shows the comment and the type of %s', (name, comment, type) => {
    const info = service.getQuickInfoAtPosition(file, text.indexOf(`${name}:`))
    expect(ts.displayPartsToString(info?.documentation)).toContain(comment)
    expect(ts.displayPartsToString(info?.displayParts)).toContain(`: ${type}`)
  })
})
