export type { Administrator, Audit, AuditedChange, AuditRecord } from './audit.ts'
export { type AuditFilter, type AuditPage, type AuditRequest, auditKinds } from './audit-pages.ts'
export { clientGaps } from './clients/client-type.ts'
export { type ClientManager, clientsOfOrigin, originId, type WithSecret } from './clients/manage-clients.ts'
export type { Members } from './differences.ts'
export type { EntryType } from './entry-type.ts'
export type { Column, Completed, DescribedKind, Kind, KindManager, PlanRules, WithNewSecret } from './kinds/kind.ts'
export { listText } from './kinds/kind.ts'
export { kinds } from './kinds/kinds.ts'
export { type EditOptions, type EntryManager, type ManagedPage, type PageRequest, pagesOf } from './manage-entries.ts'
export { type Managed, managedIn, readEntry, shownEntry } from './managed-entry.ts'
export type { Managers } from './managers.ts'
export {
  type Administration,
  type AdministrationOptions,
  openAdministration,
} from './open-administration.ts'
export { type Applied, type ApplyOptions, applyPlan } from './plan/apply-plan.ts'
export { type Declaration, type DeclaredEntry, type DeclaredFile, declarationOf } from './plan/declaration.ts'
export { type ExportedPage, type ExportOptions, exportedPages } from './plan/export-entries.ts'
export {
  changedMembers,
  makePlan,
  type Plan,
  type PlannedChange,
  type PlanOptions,
} from './plan/make-plan.ts'
export type { PlannedEntry, PlannedKind } from './plan/planned-kind.ts'
export { type ChangeRefusal, type RefusalReason, type RefusedError, refusalOf, refused } from './refusal.ts'
export {
  type EndsAccess,
  type EndsAccessAtClient,
  revokeAndSignOut,
  type WithdrawnAccess,
  withdrawAccess,
} from './revoke-and-sign-out.ts'
export {
  type AddScopeOptions,
  maxScopes,
  type RemoveScopeOptions,
  type ScopeManager,
  type ScopeWithSecret,
} from './scopes/manage-scopes.ts'
export type { RotatedSecret } from './secrets.ts'
export { type StoredEntriesOptions, storedEntries } from './stored/stored-entries.ts'
export { type StoredScopes, storedScopes } from './stored/stored-scopes.ts'
export {
  type SigningUser,
  type StoredUsers,
  type StoredUsersOptions,
  sampleOfHashes,
  storedUsers,
  type UserState,
} from './stored/stored-users.ts'
export type { TenantManager } from './tenants/manage-tenants.ts'
export type { TenantMembers } from './tenants/tenant-type.ts'
export { findUserByAddress, findUserByName } from './users/find-user.ts'
export { type InvitedUser, inviteUser, withdrawInvitation } from './users/invite-user.ts'
export {
  type AddUserOptions,
  type HashPassword,
  type NewUser,
  passwordProblem,
  type UserManager,
} from './users/manage-users.ts'
export {
  type RemovedKind,
  type ResetDeps,
  type ResetResult,
  type ResettableFactors,
  resetSecondFactors,
} from './users/reset-second-factors.ts'
export type { SearchRequest } from './users/search-users.ts'
export { storePasswordHash } from './users/store-password.ts'
export { type StoredUser, userClaimsSchema, userProblem } from './users/user.ts'
