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

/** Programs with a mistake, each with the name that the message must have. */
const mistakes: readonly (readonly [name: string, from: string, statement: string])[] = [
  ['ScopeOptions', 'core', "export const a: import('@grantry/core').ProviderOptions['scopes'] = ['orders']"],
  ['ClientOptions', 'core', "export const a: import('@grantry/core').ProviderOptions['clients'] = ['web']"],
  ['GoogleOptions', 'plugins/upstream', "google({ clientId: 'x', secret: 'y' })"],
  ['MicrosoftOptions', 'plugins/upstream', "microsoft({ clientId: 'x' })"],
  ['UpstreamProvider', 'plugins/upstream', "upstream({ providers: [{ name: 'x' }] })"],
  ['UpstreamProvider', 'plugins/sign-in-plugins', "signInPlugins({ pages: {} as never, providers: ['x'] })"],
  ['SqlUsersInput', 'users/sql', 'sqlUsers({})'],
  ['LdapUsersInput', 'users/ldap', 'ldapUsers({})'],
]
const fileOf = (index: number): string => join(root, `test/types/mistake-${index}.ts`)
const programOf = ([, from, statement]: (typeof mistakes)[number]): string => {
  const [called = ''] = /^\w+(?=\()/u.exec(statement) ?? []
  return `${called === '' ? '' : `import { ${called} } from '@grantry/${from}'\n`}${statement}\nexport {}\n`
}
const texts = new Map([[file, text], ...mistakes.map((mistake, index) => [fileOf(index), programOf(mistake)] as const)])

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
  getScriptFileNames: () => [...texts.keys()],
  getScriptVersion: () => '1',
  getScriptSnapshot(path) {
    const content = texts.get(path) ?? ts.sys.readFile(path)
    return content === undefined ? undefined : ts.ScriptSnapshot.fromString(content)
  },
  getCurrentDirectory: () => root,
  getDefaultLibFileName: ts.getDefaultLibFilePath,
  fileExists: (path) => texts.has(path) || ts.sys.fileExists(path),
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

  test.each(mistakes.map(([name, , statement], index) => [name, statement, index] as const))(
    'names %s for %s, instead of all its members',
    (name, _statement, index) => {
      const lines = service
        .getSemanticDiagnostics(fileOf(index))
        .flatMap(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n').split('\n'))
      expect(lines.join('\n')).toContain(`'${name}'`)
      for (const line of lines) expect(line.length).toBeLessThan(200)
    },
  )
})
