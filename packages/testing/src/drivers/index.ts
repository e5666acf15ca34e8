export { type DriverProof, driverProofs, proveDriver } from './prove-driver.ts'
export type { DriverReport, ProofResult } from './report.ts'
export type { DriverSubject } from './subject.ts'
