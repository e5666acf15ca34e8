import { kinds, type ManagedPage, pagesOf, type TenantMembers } from '@grantry/administration'
import type { Command } from 'commander'
import type { LoadedConfiguration } from '../configuration/load.ts'
import { tenantIssuer } from '../configuration/tenant-configuration.ts'
import { type CommonArguments, json, runOnEntries } from './entry-commands.ts'
import { type CommandKind, type EntryArguments, edit } from './kind-actions.ts'
import { entryCommands, groupCommands } from './kind-commands.ts'
import { print, table } from './output.ts'

const setExample = 'homePage=false'

const issuerIn = ({ configuration }: LoadedConfiguration, name: string): string =>
  configuration.tenants === undefined ? '-' : tenantIssuer(configuration, configuration.tenants, name)

const ofTenants: CommandKind<TenantMembers> = {
  kind: kinds.tenant,
  options: [],
  examples: {
    change: `--set ${setExample}`,
    set: setExample,
    file: '{ "plugins": [{ "name": "sign-in", "acr": "1" }] }',
  },
  ends: {
    added: (name, loaded) => `. Its issuer is ${issuerIn(loaded, name)}`,
    removed: '. Servers refuse its requests within seconds.',
  },
  derived: (name, loaded) => ({ issuer: issuerIn(loaded, name) }),
}

/** The tenants of the configuration, which commands cannot change. */
const listed = ({ configuration: { tenants } }: LoadedConfiguration) => tenants?.list ?? []

/** Lists the tenants of the configuration, too. */
async function list(options: CommonArguments): Promise<void> {
  await runOnEntries(options, async ({ tenants }, loaded) => {
    const pages: ManagedPage<TenantMembers>[] = []
    for await (const page of pagesOf(tenants.page, {})) pages.push(page)
    const stored = pages.flatMap(({ entries }) => entries)
    const configured = listed(loaded).map(({ name, enabled }) => ({ name, enabled, changedAt: 'configuration' }))
    const all = [
      ...configured,
      ...stored.map(({ value: { name, enabled = true }, changedAt }) => ({ name, enabled, changedAt })),
      ...pages.flatMap(({ unreadable }) => unreadable.map((name) => ({ name, enabled: undefined, changedAt: '-' }))),
    ].map((tenant) => ({ ...tenant, issuer: issuerIn(loaded, tenant.name) }))
    if (options.json) return print(json(all))
    const state = (enabled: boolean | undefined): string =>
      enabled === undefined ? 'unreadable' : enabled ? 'enabled' : 'disabled'
    const rows = all.map(({ name, enabled, issuer, changedAt }) => [name, state(enabled), issuer, changedAt])
    print(table([['NAME', 'STATE', 'ISSUER', 'CHANGED'], ...rows]))
  })
}

function editTenant(name: string, options: EntryArguments, { args: [, bare] }: Command): Promise<void> {
  if (bare === undefined) return edit(ofTenants, name, options)
  const member = bare.includes('=') ? bare : setExample
  throw new TypeError(`unexpected ${bare}; to change a member, write --set ${member}`)
}

/** Adds `grantry tenants`. Running servers see the changes within seconds. */
export function addTenantsCommands(grantry: Command): void {
  const group = grantry.command('tenants').description('create and end issuers of the same server while it runs')
  const commands = groupCommands(group, ['<name>', 'a segment of the path, or the host of the tenant'])
  const tenants = entryCommands(ofTenants, commands)
  commands.command('list', 'list the tenants').action(list)
  tenants.show('show a tenant in the storage')
  tenants.add('create a tenant', 'create')
  tenants.edit('change members of a tenant, such as --set enabled=false').allowExcessArguments().action(editTenant)
  tenants.remove('end a tenant: all its requests are refused, and no new tenant gets anything of it', 'end')
}
