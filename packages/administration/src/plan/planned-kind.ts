import type { Members } from '../differences.ts'
import { asMembers, type Kind, type PlanRules } from '../kinds/kind.ts'
import { kinds } from '../kinds/kinds.ts'

/** A kind that files declare. */
export type PlannedKind = Kind & { readonly plan: PlanRules }

const isPlanned = (kind: Kind): kind is PlannedKind => kind.plan !== undefined

/** The kinds of a file, each after those that it refers to. */
export const plannedKinds: readonly PlannedKind[] = [
  asMembers(kinds.scope),
  asMembers(kinds.client),
  asMembers(kinds.user),
].filter(isPlanned)

export const idOf = ({ type }: PlannedKind, value: Members): string => String(value[type.idMember])

/** A declared entry, as it is after the plan. */
export interface PlannedEntry {
  readonly kind: PlannedKind
  readonly value: Members
  /** The file and the path in it, for errors. */
  readonly where: string
}
