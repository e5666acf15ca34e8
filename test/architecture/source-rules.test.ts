import { posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { functionLengths } from '../../scripts/structure/function-lengths.ts'
import { declaredNames } from './declared-names.ts'
import { token } from './imports-of.ts'
import { everyProgram, guides, pageScripts, programs, type Source, sources } from './source-files.ts'

// Checks every source file against the source rules of CONTRIBUTING.md.

/** Removes comments, strings and regular expressions. Keeps templates, which contain expressions. */
const codeOf = (text: string): string => text.replace(token, (part) => (part.startsWith('`') ? part : ' "" '))

const ambient =
  /\bDate\s*\.\s*now\b|\bnew\s+Date\b(?!\s*\(\s*[^\s)])|(?<![.\w$]|new\s+)Date\s*\(|\bMath\s*\.\s*random\b|(?<![.\w$])(?:crypto|performance|process|navigator|globalThis|Deno|Bun)\b(?!\s*:)/u

/** In a regular expression, in a comparison, or in a list. */
const thisMachine =
  /\/[^/\n'"`]*(?:\b127(?:\\\.|\()|\blocalhost\b)[^\n'"`]*\/[imsu]*(?:[,.;)\s]|$)|[!=]==? ?['"](?:127\.|localhost|\[?::1)|\[(?:'[^'\n]*', ?)*'(?:127\.[\d.]+|localhost|\[?::1\]?)'|startsWith\('127/u

const rules: Readonly<Record<string, (source: Source) => boolean>> = {
  // The clock, randomness and hashing are arguments, so that tests can set them and adapters can replace them.
  'uses platform globals outside runtime.ts': ({ path, text }) =>
    /^(?:packages\/core\/src|packages\/testing\/src(?!\/drivers)|plugins)\//u.test(path) &&
    path !== 'packages/core/src/runtime.ts' &&
    // Decision 0096: plugins import no module of Node.js.
    path !== 'plugins/shared/node-network.ts' &&
    // Generates the key of all test providers.
    path !== 'packages/testing/src/test-provider.ts' &&
    ambient.test(codeOf(text)),
  'has a default export': ({ text }) => /\bexport\s+default\b|\bas\s+default\b/u.test(codeOf(text)),
  'has an enum': ({ text }) => /(?<![.\w$])enum\s+[\w$]+\s*\{/u.test(codeOf(text)),
  // The lazy classes replace classes of the platform: decision 0016.
  'has a class that is neither OAuthError nor a lazy one': ({ path, text }) =>
    [...codeOf(text).matchAll(/(?<![.\w$])class\s*(?!\s*[:=,;)?(])([\w$]*)/gu)].some(
      ([, name = '']) =>
        !(name === 'OAuthError' && path === 'packages/core/src/errors/oauth-error.ts') &&
        !(/^Lazy[A-Z]/u.test(name) && path.startsWith('packages/adapters/src/')),
    ),
  'has an interface with the prefix I': ({ text }) => /\b(?:interface|type)\s+I[A-Z]/u.test(codeOf(text)),
  // `kit.refuse` adds the name: by hand, it was wrong in four places.
  'types the name of a plugin into a reason': ({ path, text }) =>
    /^(?:plugins|packages\/testing\/src\/drivers|packages\/server\/src\/demo|templates|docs|README)\b/u.test(path) &&
    (path.endsWith('.md') ? /reason: ['"`]plugin:/u : /['"`]plugin:/u).test(text),
  'has more than 250 lines': ({ text }) => text.split('\n').length - 1 > 250,
  // Two definitions had two meanings: an array is an object, and no JSON object.
  'defines what the core exports': ({ path, text }) =>
    !/^packages\/core\/src\/(?:json|parts\/html-policy)\.ts$/u.test(path) &&
    // The resource server can be published without the core.
    !path.startsWith('packages/resource-server/') &&
    (/\b(?:const|function)\s+(?:isObject|isJsonObject|escapeHtml)\b/u.test(codeOf(text)) ||
      /typeof (\w+) === 'object' && \1 !== null && !Array\.isArray\(\1\)/u.test(text)),
  // Ten definitions had seven meanings. The rules are named in this-machine.ts.
  'defines which hosts are this machine': ({ path, text }) =>
    ![
      'packages/core/src/this-machine.ts',
      'packages/core/src/directory/redirect-uri.ts',
      // The origin of an application of Capacitor.
      'packages/core/src/directory/client-members.ts',
      // The resource server can be published without the core.
      'packages/resource-server/src/option-checks.ts',
      // Names and addresses to which no request is sent.
      'plugins/shared/fetched-uri.ts',
      'plugins/shared/public-address.ts',
      // Redirect URIs with a name instead of an address.
      'packages/server/src/doctor/check-clients.ts',
    ].includes(path) && thisMachine.test(text),
  'is not named in kebab-case': ({ path }) =>
    !/^(?:[a-z0-9]+(?:-[a-z0-9]+)*\/)+[a-z0-9]+(?:-[a-z0-9]+)*\.ts$/u.test(path),
}

/** A noun says more. */
const emptyNames = ['one', 'other', 'found', 'given', 'own']

const emptyNamesOf = (source: Source): readonly string[] =>
  declaredNames(source)
    .filter((name) => emptyNames.includes(name))
    .map((name) => `${source.path}: ${name}`)

const violations = (sources: readonly Source[], rule: string): readonly string[] =>
  sources.filter((source) => rules[rule]?.(source)).map(({ path }) => path)

describe('source files', () => {
  test.each(Object.keys(rules))('no file %s', (rule) => {
    expect(violations(sources, rule)).toEqual([])
  })

  test('no file of tests, proofs and benchmarks has more than 250 lines', () => {
    expect(violations(programs, 'has more than 250 lines')).toEqual([])
  })

  test('no guide or template types the name of a plugin into a reason', () => {
    expect(guides.map(({ path }) => path)).toContain('docs/guides/custom-grant.md')
    expect(violations([...guides, ...everyProgram], 'types the name of a plugin into a reason')).toEqual([])
  })

  // A reader opens them by name.
  test('no two files of the core have the same name', () => {
    const names = sources
      .filter(({ path }) => path.startsWith('packages/core/'))
      .map(({ path }) => posix.basename(path))
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([])
  })

  test('no function has more than 80 lines', () => {
    const long = [...sources, ...pageScripts].flatMap(functionLengths).filter(({ lines }) => lines > 80)
    expect(long).toEqual([])
  })

  test('no variable has a name that says nothing', () => {
    expect([...sources, ...pageScripts, ...everyProgram].flatMap(emptyNamesOf)).toEqual([])
  })

  test('are found', () => {
    const paths = sources.map(({ path }) => path)
    expect(paths).toContain('packages/core/src/errors/oauth-error.ts')
    expect(paths).toContain('plugins/password/password.ts')
    expect(paths).toContain('packages/storage-drivers/src/memory.ts')
    expect(paths).toContain('packages/adapters/src/node.ts')
    expect(pageScripts.map(({ path }) => path)).toContain('packages/console/src/page/main.js')
    const others = programs.map(({ path }) => path)
    expect(others).toContain('test/architecture/source-rules.test.ts')
    expect(others).toContain('test/support/fixture.ts')
    expect(others).toContain('proofs/races/main.ts')
    expect(others).toContain('bench/main.ts')
  })

  // Proves that the rule can detect a violation in real code.
  test('include runtime.ts, which the rule detects under another path', () => {
    const runtime = sources.filter(({ path }) => path === 'packages/core/src/runtime.ts')
    expect(
      violations(
        runtime.map(({ text }) => ({ path: 'packages/core/src/a.ts', text })),
        'uses platform globals outside runtime.ts',
      ),
    ).toHaveLength(1)
  })
})

describe('the source file check', () => {
  const path = 'packages/core/src/tokens/a.ts'
  const globals = 'uses platform globals outside runtime.ts'
  const className = 'has a class that is neither OAuthError nor a lazy one'
  const machine = 'defines which hosts are this machine'
  const kebab = 'is not named in kebab-case'

  test.each([
    [globals, path, 'const now = Date.now()'],
    [globals, path, 'const now = new Date()'],
    [globals, path, 'const now = new Date'],
    [globals, path, 'const now = Date()'],
    [globals, path, 'const x = Math.random()'],
    [globals, path, 'await crypto.subtle.digest(name, data)'],
    [globals, path, 'const { subtle } = crypto'],
    [globals, path, 'globalThis.crypto.getRandomValues(bytes)'],
    [globals, path, 'performance.now()'],
    [globals, path, 'const text = `${' + 'Date.now()}`'],
    [globals, path, "const url = 'https://a' // why\nconst now = Date.now()"],
    [globals, path, 'const form = /[^"\']/u\nconst now = Date.now()'],
    [globals, 'plugins/a/a.ts', 'const id = crypto.randomUUID()'],
    ['has a default export', path, 'export default {}'],
    ['has a default export', path, 'export { a as default }'],
    ['has an enum', path, 'export const enum Color { Red }'],
    [className, path, 'export class Store {}'],
    [className, path, 'const Store = class extends Map {}'],
    [className, path, 'export class OAuthError extends Error {}'],
    ['has an interface with the prefix I', path, 'export interface IStore {}'],
    ['has more than 250 lines', path, 'x\n'.repeat(251)],
    ['defines what the core exports', 'plugins/a/a.ts', 'const isObject = (value: unknown) => value !== null'],
    [
      'defines what the core exports',
      'plugins/a/a.ts',
      "return typeof value === 'object' && value !== null && !Array.isArray(value)",
    ],
    ['defines what the core exports', path, 'export function escapeHtml(text: string): string {}'],
    [machine, 'plugins/a/a.ts', String.raw`const loopback = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/u`],
    [machine, 'plugins/a/a.ts', String.raw`if (/^http:\/\/(?:127\.0\.0\.1|\[::1\])[:/]/u.test(uri)) return`],
    [machine, 'plugins/a/a.ts', "const names = ['127.0.0.1', 'localhost', '[::1]'].includes(host)"],
    [machine, 'plugins/a/a.ts', "const isOwn = host === 'localhost' || host === '::1'"],
    [machine, 'plugins/a/a.ts', "return isIPv4(plain) && plain.startsWith('127.')"],
    [kebab, 'packages/core/src/tokens/accessToken.ts', ''],
    [kebab, 'packages/core/src/Tokens/a.ts', ''],
    [kebab, 'packages/core/src/tokens/access_token.ts', ''],
  ])('rejects a file that %s: %s %j', (rule, path, text) => {
    expect(violations([{ path, text }], rule)).toEqual([path])
  })

  test.each([
    'const found = items.find(isCurrent)',
    'for (const other of items) use(other)',
    'const { client: own } = request',
    'const { given = first } = request',
    'const [first, { name: [one] }] = items',
    'const { first, ...other } = items',
    'items.map((one) => one.name)',
    'const read = async ({ found }: Result) => found',
    'function own() {}',
    'function read(id: string, ...given: string[]) {}',
  ])('rejects a variable whose name says nothing: %s', (text) => {
    expect(emptyNamesOf({ path, text })).toHaveLength(1)
  })

  test('accepts these names for members, and in texts', () => {
    const text = "// own\nconst owner = { own: 'one', other: record.found }; const { given: consent } = record"
    expect(emptyNamesOf({ path, text })).toEqual([])
  })

  test.each([
    [globals, path, '// Date.now() is only mentioned\n/* crypto.subtle */'],
    [globals, path, "throw new TypeError('Math.random() is not random')"],
    [globals, path, 'setIssuedAt(new Date(now * 1000)); const at = Date.parse(text)'],
    [globals, path, 'await runtime.subtle.digest(name, data); const a = { crypto: 1 }'],
    [globals, 'packages/adapters/src/a.ts', 'const now = Date.now()'],
    [className, 'packages/core/src/errors/oauth-error.ts', 'export class OAuthError extends Error {}'],
    [className, path, 'const a = { class: 1, b: c.class } // class A'],
    ['has more than 250 lines', path, 'x\n'.repeat(250)],
    [machine, 'plugins/a/a.ts', "const { host = '127.0.0.1', port = 0 } = options // localhost, 127.0.0.1"],
    [kebab, 'packages/storage-drivers/src/memory-2.ts', ''],
  ])('accepts, for the rule "%s": %s %j', (rule, path, text) => {
    expect(violations([{ path, text }], rule)).toEqual([])
  })
})
