import {
  type Managed,
  type ManagedPage,
  pagesOf,
  shownEntry,
  type TenantMembers,
  tenantType,
} from '@grantry/administration'
import type { Command } from 'commander'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { tenantIssuer } from '../tenants/tenant-configuration.ts'
import { configOption } from './configuration.ts'
import {
  assertHas,
  type ChangeArguments,
  type CommonArguments,
  changeOf,
  details,
  json,
  print,
  runOnEntries,
  runOnEntry,
} from './entry-commands.ts'
import { table } from './table.ts'

interface MemberArguments extends CommonArguments, ChangeArguments {
  readonly tag?: readonly string[]
  readonly ifVersion?: string
}

const shown = (tenant: Managed<TenantMembers>) => shownEntry(tenantType, tenant)
const examples = { set: 'homePage=false', file: '{ "plugins": [{ "name": "sign-in", "acr": "1" }] }' }

/** The tenants of the configuration, which commands cannot change. */
const listed = ({ configuration: { tenants } }: LoadedConfiguration) => tenants?.list ?? []

const issuerIn = ({ configuration }: LoadedConfiguration, name: string): string =>
  configuration.tenants === undefined ? '-' : tenantIssuer(configuration, configuration.tenants, name)

async function list(given: CommonArguments): Promise<void> {
  await runOnEntries(given, async ({ tenants }, loaded) => {
    const pages: ManagedPage<TenantMembers>[] = []
    for await (const page of pagesOf(tenants.page, {})) pages.push(page)
    const stored = pages.flatMap(({ entries }) => entries)
    const configured = listed(loaded).map(({ name, enabled }) => ({ name, enabled, changedAt: 'configuration' }))
    const all = [
      ...configured,
      ...stored.map(({ value: { name, enabled = true }, changedAt }) => ({ name, enabled, changedAt })),
      ...pages.flatMap(({ unreadable }) => unreadable.map((name) => ({ name, enabled: undefined, changedAt: '-' }))),
    ].map((tenant) => ({ ...tenant, issuer: issuerIn(loaded, tenant.name) }))
    if (given.json) return print(json(all))
    const state = (enabled: boolean | undefined): string =>
      enabled === undefined ? 'unreadable' : enabled ? 'enabled' : 'disabled'
    const rows = all.map(({ name, enabled, issuer, changedAt }) => [name, state(enabled), issuer, changedAt])
    print(table([['NAME', 'STATE', 'ISSUER', 'CHANGED'], ...rows]))
  })
}

async function create(name: string, given: MemberArguments): Promise<void> {
  const members = await changeOf(given, {}, examples)
  await runOnEntries(given, async ({ tenants }, loaded) => {
    const tenant = await tenants.add({ ...members, name } as TenantMembers, given.tag ?? [])
    const issuer = issuerIn(loaded, name)
    print(given.json ? json({ ...shown(tenant), issuer }) : `Created the tenant ${name}. Its issuer is ${issuer}\n`)
  })
}

async function edit(name: string, given: MemberArguments, { args: [, bare] }: Command): Promise<void> {
  if (bare !== undefined) {
    const member = bare.includes('=') ? bare : examples.set
    throw new TypeError(`unexpected ${bare}; to change a member, write --set ${member}`)
  }
  const change = await changeOf(given, {}, examples)
  if (Object.keys(change).length === 0 && given.tag === undefined) {
    throw new TypeError(`nothing to change; name a member, such as --set ${examples.set}`)
  }
  await runOnEntry('tenants', name, given, async ({ tenants }) => {
    if (given.unset !== undefined) assertHas(`the tenant ${name}`, (await tenants.show(name)).value, given.unset)
    const tenant = await tenants.edit(name, change, { version: given.ifVersion, tags: given.tag })
    print(given.json ? json(shown(tenant)) : `Changed the tenant ${name}.\n`)
  })
}

async function show(name: string, given: CommonArguments): Promise<void> {
  await runOnEntry('tenants', name, given, async ({ tenants }) => {
    const tenant = await tenants.show(name)
    print(given.json ? json(shown(tenant)) : details(tenantType, tenant))
  })
}

async function end(name: string, given: CommonArguments): Promise<void> {
  await runOnEntry('tenants', name, given, ({ tenants }) => tenants.remove(name))
  print(
    given.json
      ? json({ name, ended: true })
      : `Ended the tenant ${name}. Servers refuse its requests within seconds.\n`,
  )
}

/** Adds `grantry tenants`. Running servers see the changes within seconds. */
export function addTenantsCommands(grantry: Command): void {
  const tenants = grantry.command('tenants').description('create and end issuers of the same server while it runs')
  const command = (name: string, description: string): Command =>
    tenants
      .command(name)
      .description(description)
      .option(...configOption)
      .option('--json', 'print JSON')
  const ofTenant = (name: string, description: string): Command =>
    command(name, description).argument('<name>', 'a segment of the path, or the host of the tenant')
  const withMembers = (of: Command): Command =>
    of
      .option('--set <member=json...>', `any member, such as ${examples.set}`)
      .option('--file <file>', 'members as a JSON object; - reads standard input')
      .option('--tag <labels...>', 'labels, to find it by')

  command('list', 'list the tenants').action(list)
  ofTenant('show', 'show a tenant in the storage').action(show)
  withMembers(ofTenant('create', 'create a tenant')).action(create)
  withMembers(ofTenant('edit', 'change members of a tenant, such as --set enabled=false'))
    .option('--unset <members...>', 'members to remove, which then have their defaults')
    .allowExcessArguments()
    .option('--if-version <version>', 'only if this is its current version, as shown by grantry tenants show')
    .action(edit)
  ofTenant('end', 'end a tenant: all its requests are refused, and no new tenant gets anything of it').action(end)
}
