import { type Managed, type ManagedPage, pagesOf, scopeType, shownEntry } from '@grantry/administration'
import type { ScopeOptions } from '@grantry/core'
import type { Command } from 'commander'
import { configOption } from './configuration.ts'
import {
  assertHas,
  type ChangeArguments,
  type CommonArguments,
  changeOf,
  details,
  json,
  jsonOfPages,
  print,
  runOnEntries,
  runOnEntry,
  tableOfPages,
  wordsOf,
} from './entry-commands.ts'
import { shownRotation, shownSecret, withOverlap } from './shown-secret.ts'

interface MemberArguments extends CommonArguments, ChangeArguments {
  readonly audience?: string
  readonly claim?: readonly string[]
  readonly identity?: true
  readonly secret?: true
  readonly tag?: readonly string[]
  readonly ifVersion?: string
}

const shown = (scope: Managed<ScopeOptions>) => shownEntry(scopeType, scope)

/** Returns the members that the options of a command name. */
const membersOf = ({ audience, claim, identity, ...given }: MemberArguments) =>
  changeOf(
    given,
    { audience, claims: claim, identity },
    { set: 'unrestrictedIntrospection=true', file: '{ "claims": ["name"] }' },
  )

async function add(name: string, given: MemberArguments): Promise<void> {
  const options = { ...(await membersOf(given)), name } as ScopeOptions
  const { scope, secret } = await runOnEntries(given, ({ scopes }) =>
    scopes.add(options, given.tag ?? [], { withSecret: given.secret }),
  )
  if (given.json) return print(json({ ...shown(scope), ...(secret !== undefined && { secret }) }))
  print(`Added the scope ${name}. Running servers know it within 5 seconds.\n`)
  if (secret !== undefined) print(shownSecret(secret))
}

async function edit(name: string, given: MemberArguments): Promise<void> {
  const change = await membersOf(given)
  if (Object.keys(change).length === 0 && given.tag === undefined) {
    throw new TypeError('nothing to change; name a member, such as --audience https://api.example.com')
  }
  const options = { version: given.ifVersion, tags: given.tag }
  const scope = await runOnEntry('scopes', name, given, async ({ scopes }) => {
    if (given.unset !== undefined) assertHas(`the scope ${name}`, (await scopes.show(name)).value, given.unset)
    return scopes.edit(name, change, options)
  })
  print(given.json ? json(shown(scope)) : `Changed the scope ${name}.\n`)
}

async function setEnabled(name: string, given: CommonArguments, enabled: boolean): Promise<void> {
  const scope = await runOnEntry('scopes', name, given, ({ scopes }) => scopes.edit(name, { enabled }))
  const sentence = enabled
    ? `Enabled the scope ${name}.`
    : `Disabled the scope ${name}. Tokens that have it stay valid until they end: see the guide.`
  print(given.json ? json(shown(scope)) : `${sentence}\n`)
}

async function remove(name: string, given: CommonArguments & { readonly force?: true }): Promise<void> {
  await runOnEntry('scopes', name, given, ({ scopes }) => scopes.remove(name, { force: given.force }))
  print(given.json ? json({ name, removed: true }) : `Removed the scope ${name}.\n`)
}

async function rotateSecret(name: string, given: CommonArguments & { readonly overlap: number }): Promise<void> {
  const { scope, ...secrets } = await runOnEntry('scopes', name, given, ({ scopes }) =>
    scopes.rotateSecret(name, given.overlap),
  )
  print(given.json ? json({ ...shown(scope), ...secrets }) : shownRotation(secrets, given.overlap))
}

async function list(given: CommonArguments & { readonly prefix?: string; readonly tag?: string }): Promise<void> {
  const pages = await runOnEntries(given, async ({ scopes }) => {
    const all: ManagedPage<ScopeOptions>[] = []
    for await (const page of pagesOf(scopes.page, { prefix: given.prefix, tag: given.tag })) all.push(page)
    return all
  })
  if (given.json) return print(jsonOfPages(scopeType, pages))
  const rowOf = ({ value: scope, tags, changedAt }: Managed<ScopeOptions>) => [
    scope.name,
    scope.enabled === false ? 'disabled' : 'enabled',
    [scope.audience ?? '-'].flat().join(', '),
    wordsOf(scope.claims),
    wordsOf(tags),
    changedAt,
  ]
  print(tableOfPages(['NAME', 'STATE', 'AUDIENCE', 'CLAIMS', 'TAGS', 'CHANGED'], pages, rowOf))
}

/** Adds the options that name members of a scope. */
const withMembers = (command: Command): Command =>
  command
    .option('--audience <uri>', 'the `aud` of access tokens for this API')
    .option('--claim <names...>', 'claims of the user')
    .option('--identity', 'a set of claims that userinfo returns, not an API')
    .option('--set <member=json...>', 'any member, such as unrestrictedIntrospection=true')
    .option('--file <file>', 'members as a JSON object; - reads standard input')
    .option('--tag <labels...>', 'labels, to find it by')

/** Adds `grantry scopes`. Running servers see the changes within seconds. */
export function addScopesCommands(grantry: Command): void {
  const scopes = grantry.command('scopes').description('add and change scopes while the service runs')
  const command = (name: string, description: string): Command =>
    scopes
      .command(name)
      .description(description)
      .option(...configOption)
      .option('--json', 'print JSON')
  const ofScope = (name: string, description: string): Command =>
    command(name, description).argument('<name>', 'the name of the scope')

  command('list', 'list the scopes in the storage')
    .option('--prefix <text>', 'only those whose names start with it')
    .option('--tag <label>', 'only those with this label')
    .action(list)
  ofScope('show', 'show a scope').action((name: string, given: CommonArguments) =>
    runOnEntry('scopes', name, given, async ({ scopes: all }) => {
      const scope = await all.show(name)
      print(given.json ? json(shown(scope)) : details(scopeType, scope))
    }),
  )
  withMembers(ofScope('add', 'add a scope'))
    .option('--secret', 'create a secret, with which its API calls introspection; shows it once')
    .action(add)
  withMembers(ofScope('edit', 'change members of a scope'))
    .option('--unset <members...>', 'members to remove, which then have their defaults')
    .option('--if-version <version>', 'only if this is its current version, as shown by grantry scopes show')
    .action(edit)
  ofScope('disable', 'put a scope into no new token, and refuse introspection by its API').action(
    (name: string, given: CommonArguments) => setEnabled(name, given, false),
  )
  ofScope('enable', 'let clients get a scope again').action((name: string, given: CommonArguments) =>
    setEnabled(name, given, true),
  )
  withOverlap(ofScope('rotate-secret', 'add a new secret, which is shown once, and let the earlier ones end')).action(
    rotateSecret,
  )
  ofScope('remove', 'remove a scope that no client has')
    .option('--force', 'although clients in the storage have it')
    .action(remove)
}
