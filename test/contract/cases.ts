import { tokenCases } from './cases/token.ts'
import type { ContractCase } from './contract-case.ts'

/** The contract: what every runtime answers alike. */
export const cases: readonly ContractCase[] = [...tokenCases]
