import { clientKind } from './client-kind.ts'
import { scopeKind } from './scope-kind.ts'
import { tenantKind } from './tenant-kind.ts'
import { userKind } from './user-kind.ts'

/** The kinds of entries. The names of actions in the audit trail begin with these names. */
export const kinds = { client: clientKind, scope: scopeKind, user: userKind, tenant: tenantKind } as const
