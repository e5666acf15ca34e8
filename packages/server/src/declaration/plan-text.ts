import { changedMembers, type Members, type Plan, type PlannedChange } from '@grantry/administration'
import { sanitizeText } from '../sanitize-text.ts'

const signs = { add: '+', change: '~', remove: '-' } as const
type Sign = (typeof signs)[keyof typeof signs]

/** Codes of terminals for green, yellow and red. */
const colors: Readonly<Record<Sign, number>> = { '+': 32, '~': 33, '-': 31 }

/** Whether a stream shows colors. See https://no-color.org. */
export const hasColors = ({ isTTY }: { readonly isTTY?: boolean }): boolean =>
  isTTY === true && (process.env.NO_COLOR ?? '') === '' && process.env.TERM !== 'dumb'

const membersOf = (entry: PlannedChange['next']): Members | undefined =>
  entry && { ...entry.value, ...(entry.tags.length > 0 && { tags: entry.tags }) }

/** The members of a change as they are shown: without hashes. */
interface ShownMember {
  readonly member: string
  readonly before?: unknown
  readonly after?: unknown
}

function shownMembers(change: PlannedChange): readonly ShownMember[] {
  const { kind, stored, next } = change
  const [before, after] = [membersOf(stored), membersOf(next)]
  const shown = (members: Members | undefined, member: string) =>
    members?.[member] === undefined ? undefined : kind.type.shown(member, members[member])
  return changedMembers(change)
    .filter((member) => member !== kind.type.idMember)
    .map((member) => ({ member, before: shown(before, member), after: shown(after, member) }))
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string')

const isSecret = ({ kind }: PlannedChange, member: string): boolean => kind.plan.hashes.includes(member)

/** Returns the lines of a member. Of two lists, only what differs is shown. */
function linesOf(change: PlannedChange, { member, before, after }: ShownMember): readonly (readonly [Sign, string])[] {
  if (before === undefined) return [['+', `${member}: ${isSecret(change, member) ? 'set' : JSON.stringify(after)}`]]
  if (after === undefined) return [['-', `${member}: ${isSecret(change, member) ? 'set' : JSON.stringify(before)}`]]
  // Hashes are not shown, so the shown values can be equal.
  if (isSecret(change, member)) return [['~', `${member}: changed`]]
  const isSet = member === 'tags' || change.kind.plan.sets.includes(member)
  if (isSet && isTexts(before) && isTexts(after)) {
    const only = (these: readonly string[], others: readonly string[]) => these.filter((item) => !others.includes(item))
    return [
      ['~', `${member}:`],
      ...only(after, before).map((item) => ['+', `  ${JSON.stringify(item)}`] as const),
      ...only(before, after).map((item) => ['-', `  ${JSON.stringify(item)}`] as const),
    ]
  }
  return [['~', `${member}: ${JSON.stringify(before)} -> ${JSON.stringify(after)}`]]
}

const unfinishedText = 'the last change has failed before it ended the access that it takes away; that is done now'

/** Whether an entry that is added gets a new secret. */
const getsSecret = ({ kind, action, next }: PlannedChange): boolean =>
  action === 'add' && kind.plan.complete?.(next?.value ?? {}, () => 'new').secret !== undefined

export const countsOf = ({ changes, unchanged }: Plan) => {
  const count = (action: PlannedChange['action']): number => changes.filter((each) => each.action === action).length
  return { add: count('add'), change: count('change'), remove: count('remove'), unchanged }
}

/** Returns a plan as a person reads it. Names can come from an untrusted source: they cannot control the terminal. */
export function planText(plan: Plan, { colored }: { readonly colored: boolean }): string {
  const line = (sign: Sign, indent: string, text: string): string => {
    const plain = `${indent}${sign} ${sanitizeText(text)}`
    return colored ? `\u001b[${colors[sign]}m${plain}\u001b[0m\n` : `${plain}\n`
  }
  const entries = plan.changes.map((change) => {
    const head = line(signs[change.action], '', `${change.kind.type.noun} ${change.id}`)
    if (change.action === 'remove') return head
    const members = shownMembers(change).flatMap((member) => linesOf(change, member))
    // An earlier change has failed before its end.
    const rest = change.stored?.unfinished === undefined ? [] : [line('~', '    ', unfinishedText)]
    const secret = getsSecret(change) ? [line('+', '    ', 'secrets: a new one')] : []
    return [head, ...members.map(([sign, text]) => line(sign, '    ', text)), ...rest, ...secret].join('')
  })
  const { add, change, remove, unchanged } = countsOf(plan)
  const summary = `${add} to add, ${change} to change, ${remove} to remove, ${unchanged} unchanged.\n`
  return entries.length === 0 ? `Nothing to do: ${summary}` : `${entries.join('\n')}\n${summary}`
}

/** Returns a plan for programs. */
export const planJson = (plan: Plan) => ({
  changes: plan.changes.map((change) => ({
    action: change.action,
    kind: change.kind.type.kind,
    id: change.id,
    ...(change.stored !== undefined && { version: change.stored.version }),
    ...(change.action === 'change' && change.stored?.unfinished !== undefined && { unfinished: true }),
    ...(change.action !== 'remove' && { members: shownMembers(change) }),
    ...(getsSecret(change) && { newSecret: true }),
  })),
  counts: countsOf(plan),
})
