// Each reason of an event is explained, and each explanation is about a reason of the product.
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sources } from '../architecture/source-files.ts'
import { root } from './code-blocks.ts'
import { reasonsOf } from './reasons-of.ts'

/** Texts under the same name that are in no event: states, refusals of commands, and what pages say. */
const others = new Set([
  ...['spent', 'unused', 'kept', 'invalid_client'],
  ...['password_long', 'password_short', 'password_malformed', 'password_personal', 'password_common'],
])

/** An interaction refuses with the error code as the reason (`refused` of the authorization endpoint). */
const codes = ['access_denied', 'temporarily_unavailable', 'unmet_authentication_requirements']

const product = sources.filter(
  ({ path }) =>
    /^(?:plugins|packages\/(?:core|users|administration|adapters)|packages\/server\/src\/(?:observability|tenants|server\.ts))/u.test(
      path,
    ) && !/\/(?:import|plan)\//u.test(path),
)
const reasons = [...reasonsOf(product).keys()].filter((reason) => /[a-z]{3}/u.test(reason) && !others.has(reason))

const read = (file: string): string => readFileSync(`${root}/${file}`, 'utf8')
const cellsOf = (text: string): readonly string[] =>
  [...text.matchAll(/`([^`\n]+)`/gu)].map(([, name = '']) => name.replace(/^.*:/u, ''))

/** The first cells of the tables of reasons in a document. */
const rowsOf = (text: string): readonly string[] =>
  [...text.matchAll(/^\| reason.*\n\| ---.*\n((?:\|.*\n)*)/gmu)].flatMap(([, rows = '']) =>
    rows.split('\n').flatMap((row) => cellsOf(row.split(' | ')[0] ?? '')),
  )

const guides = readdirSync(`${root}/docs/guides`).map((name) => read(`docs/guides/${name}`))
const listed = [read('docs/reasons.md'), read('docs/events.md'), ...guides].flatMap(rowsOf)
/** The types of events: their rows explain no reason of the same name. */
const types = new Set([...read('docs/events.md').matchAll(/^\| `(\w+)` \|/gmu)].map(([, type]) => type))
const besideTables = [
  ...cellsOf(read('docs/events.md')).filter((name) => !types.has(name)),
  ...cellsOf(read('docs/reasons.md')),
]
const explained = new Set([...listed, ...besideTables])

/** A part that varies is `…` in the sources and in the tables. */
const matcherOf = (text: string): RegExp =>
  new RegExp(`^${text.replaceAll(/[^\w…]/gu, '.').replaceAll('…', '[a-z_…]+')}$`, 'u')

test('the sources have reasons of every kind', () => {
  for (const reason of ['client_unknown', 'domain_not_allowed', 'claims_unavailable', 'polled_early', 'key_ambiguous'])
    expect(reasons).toContain(reason)
  expect(reasons.length).toBeGreaterThan(250)
})

test.each<[string, string]>([
  ['an error', "throw new OAuthError('invalid_request', 'No', { reason: missing ? 'new_reason' : other })"],
  ['a refusal', "throw kit.refuse('invalid_request', 'No', 'new_reason', { detail })"],
  [
    'a function of the file',
    "const no = (reason: string) => kit.refuse('invalid_request', 'No', reason)\nthrow no('new_reason')",
  ],
  ['a result', "/** Returns the reason, or nothing. */\nfunction problemOf() {\n  if (x) return 'new_reason'\n}"],
  ['a table of objects', "const refusals = { user: { reason: 'new_reason', code: 'login_required' } } as const"],
  ['a destructured pair', "const [says, reason] = isKnown ? (['No', 'new_reason'] as const) : [text, other]"],
  ['a constant', "const unusable = 'new_reason'\nfail({ failure: unusable })"],
])('a reason is found in %s', (_what, text) => {
  expect([...reasonsOf([{ path: 'a.ts', text }]).keys()]).toEqual(['new_reason'])
})

test('each reason is explained', () => {
  const all = [...explained]
  expect(
    reasons.filter((reason) => !all.some((row) => matcherOf(reason).test(row) || matcherOf(row).test(reason))),
    'no row in docs/reasons.md, or in the guide of its plugin',
  ).toEqual([])
})

test('each row of a table of reasons names one', () => {
  // A rule of a plugin warns with its id as the reason.
  const isRule = (row: string): boolean => sources.some(({ text }) => text.includes(`'${row.replaceAll('_', '-')}'`))
  const isEvent = (row: string): boolean => read('packages/core/src/events/event.ts').includes(`'${row}'`)
  const isKnown = (row: string): boolean =>
    codes.includes(row) ||
    isRule(row) ||
    isEvent(row) ||
    reasons.some((reason) => matcherOf(reason).test(row) || matcherOf(row).test(reason))
  expect(
    listed.filter((row) => !isKnown(row)),
    'rows of docs/reasons.md, docs/events.md or a guide',
  ).toEqual([])
})
