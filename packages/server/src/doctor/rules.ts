// All rules of grantry check, in the order of their findings. A new rule belongs to the file of its subject, or to a
// new file that is added to this list.
import { coreRules } from '@grantry/core'
import { type RulePart, textsOf } from '../check-rules/rule.ts'
import { accountRules } from './check-accounts.ts'
import { certificateRules } from './check-certificates.ts'
import { clientRules } from './check-clients.ts'
import { exposureRules, fileRules, issuerRules } from './check-exposure.ts'
import { keyRules } from './check-keys.ts'
import { pluginRules } from './check-plugins.ts'
import { secretRules } from './check-secrets.ts'
import { describedRules, signInRules } from './check-sign-in.ts'
import { storageRules } from './check-storage.ts'
import { tenantRules } from './check-tenants.ts'
import { userRules } from './check-users.ts'
import type { Facts } from './facts.ts'
import { scopeRules } from './scopes.ts'
import { unusableRules } from './unusable.ts'

/** The rules for a configuration with which the server starts. */
export const usableRules: readonly RulePart<Facts>[] = [
  ...issuerRules,
  ...storageRules,
  ...keyRules,
  ...fileRules,
  ...secretRules,
  // The core runs its rules and those of plugins, at the start, too.
  { rules: coreRules, run: ({ ofProvider }) => ofProvider },
  ...clientRules,
  ...scopeRules,
  ...userRules,
  ...signInRules,
  ...accountRules,
  ...pluginRules,
  ...describedRules,
  ...certificateRules,
  ...exposureRules,
  ...tenantRules,
]

/** The findings that an operator has accepted, and the ids that no longer occur. */
interface Acceptance {
  readonly accept: readonly string[]
  readonly isUnused: (id: string) => boolean
}

export const acceptanceRules: readonly RulePart<Acceptance>[] = [
  {
    id: 'acceptance-unused',
    severity: 'warning',
    remedy: 'remove the id from check.accept, so that the next finding of this kind is shown',
    source: 'docs/guides/doctor.md',
    check: ({ accept, isUnused }) =>
      accept.flatMap((id, index) =>
        isUnused(id)
          ? [{ where: `check.accept[${index}]`, reason: `${id} is accepted, and there is no such finding` }]
          : [],
      ),
  },
]

export const rules = textsOf([...unusableRules, ...acceptanceRules, ...usableRules])
