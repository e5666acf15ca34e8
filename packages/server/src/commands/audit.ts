import type { AuditRecord } from '@grantry/administration'
import { type Command, InvalidArgumentError } from 'commander'
import { withAdministration } from '../administration/open-administration.ts'
import { jsonText } from '../sanitize-text.ts'
import { assertSharedStorage, configOption, requireConfiguration } from './configuration.ts'
import { table } from './table.ts'

interface AuditArguments {
  readonly config?: string
  readonly json?: true
  readonly limit: number
}

const pageSize = 200

function positiveNumber(given: string): number {
  const count = Number(given)
  if (!/^\d{1,6}$/u.test(given) || count === 0) throw new InvalidArgumentError('It must be a number from 1 to 999999.')
  return count
}

const changeOf = ({ before = {}, after = {} }: AuditRecord): string =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().join(' ')

async function readTrail({ config, limit }: AuditArguments): Promise<readonly AuditRecord[]> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'its changes are lost with it')
  return withAdministration(loaded, async ({ audit }) => {
    const records: AuditRecord[] = []
    let after: string | undefined
    do {
      const page = await audit({ after, limit: Math.min(pageSize, limit - records.length) })
      records.push(...page.records)
      after = page.next
    } while (after !== undefined && records.length < limit)
    return records
  })
}

/** Adds `grantry audit`. */
export function addAuditCommand(grantry: Command): void {
  grantry
    .command('audit')
    .description('show what administrators have changed in the last year, the newest first')
    .option(...configOption)
    .option('--limit <number>', 'number of changes', positiveNumber, 100)
    .option('--json', 'print JSON, with the values before and after')
    .action(async (given: AuditArguments) => {
      const trail = await readTrail(given)
      const rows = trail.map((record) => [
        record.time,
        record.who,
        record.action,
        record.id,
        changeOf(record),
        record.outcome === 'done' ? '' : record.outcome,
      ])
      const text = given.json
        ? `${jsonText(trail)}\n`
        : table([['TIME', 'WHO', 'ACTION', 'ID', 'MEMBERS', 'OUTCOME'], ...rows])
      process.stdout.write(text)
    })
}
