import { corsCases } from './cases/cors.ts'
import { formCases } from './cases/forms.ts'
import { metadataCases } from './cases/metadata.ts'
import { pluginEndpointCases } from './cases/plugin-endpoints.ts'
import { protectedCases } from './cases/protected.ts'
import { singleUseCases } from './cases/single-use.ts'
import { tokenCases } from './cases/token.ts'
import { wireCases } from './cases/wire.ts'
import type { ContractCase } from './contract-case.ts'

/** The contract: requests to which every runtime gives the same response. */
export const cases: readonly ContractCase[] = [
  ...tokenCases,
  ...singleUseCases,
  ...protectedCases,
  ...metadataCases,
  ...corsCases,
  ...pluginEndpointCases,
  ...formCases,
  ...wireCases,
]
