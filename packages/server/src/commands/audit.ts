import { type AuditFilter, type AuditRecord, auditKinds, kinds } from '@grantry/administration'
import { parseTime } from '@grantry/core'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { configOption } from '../opening/command-options.ts'
import { withAdministration } from '../opening/open-administration.ts'
import { assertSharedStorage, requireConfiguration } from '../opening/open-configuration.ts'
import { jsonText } from '../sanitize-text.ts'
import { table } from './output.ts'

interface AuditArguments extends AuditFilter {
  readonly config?: string
  readonly json?: true
  readonly limit: number
}

const pageSize = 200
const lists = Object.values(kinds).map(({ list }) => list)

function positiveNumber(text: string): number {
  const count = Number(text)
  if (!/^\d{1,6}$/u.test(text) || count === 0) throw new InvalidArgumentError('It must be a number from 1 to 999999.')
  return count
}

/** Requires a zone: without one, the same text would be another time on another machine. */
function timeOf(text: string): number {
  const time = parseTime(text)
  if (time !== undefined) return time
  throw new InvalidArgumentError('It must be a date, or a time with a zone, such as 2026-11-26T10:00:00Z.')
}

const changeOf = ({ before = {}, after = {} }: AuditRecord): string =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])].sort().join(' ')

async function readTrail({
  config,
  limit,
  kind,
  id,
  who,
  since,
  until,
}: AuditArguments): Promise<readonly AuditRecord[]> {
  const loaded = await requireConfiguration(config)
  assertSharedStorage(loaded, 'its changes are lost with it')
  return withAdministration(loaded, async ({ audit }) => {
    const filter = { kind, id, who, since, until }
    const records: AuditRecord[] = []
    let after: string | undefined
    do {
      const page = await audit({ ...filter, after, limit: Math.min(pageSize, limit - records.length) })
      records.push(...page.records)
      after = page.next
    } while (after !== undefined && records.length < limit)
    return records
  })
}

export function addAuditCommand(grantry: Command): void {
  grantry
    .command('audit')
    .description('show what administrators have changed in the last year, the newest first')
    .option(...configOption)
    .option('--limit <number>', 'number of changes', positiveNumber, 100)
    .addOption(new Option('--kind <kind>', `only changes of ${lists.join(', ')} or keys`).choices(auditKinds))
    .option('--id <id>', 'only changes of the client, scope, user (sub), tenant or key with this id')
    .option('--who <name>', 'only changes of this administrator, as listed')
    .option(
      '--since <time>',
      'only changes since the start of a day (UTC), such as 2026-11-26, or a time with a zone',
      timeOf,
    )
    .option('--until <time>', 'only changes before the start of a day, or a time', timeOf)
    .option('--json', 'print JSON, with the values before and after')
    .action(async (options: AuditArguments) => {
      const trail = await readTrail(options)
      const rows = trail.map((record) => [
        record.time,
        record.who,
        record.action,
        record.id,
        changeOf(record),
        record.outcome === 'done' ? '' : record.outcome,
      ])
      const text = options.json
        ? `${jsonText(trail)}\n`
        : table([['TIME', 'WHO', 'ACTION', 'ID', 'MEMBERS', 'OUTCOME'], ...rows])
      process.stdout.write(text)
    })
}
