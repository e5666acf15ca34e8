// Exports of other systems, as entries. Not in the main entry: only the command that imports them loads this.
export { importAuth0 } from './import/auth0.ts'
export { importHydra } from './import/hydra.ts'
export { importIdentityServer } from './import/identityserver.ts'
export {
  type Consequence,
  consequences,
  type ExportedFile,
  type Finding,
  type Imported,
  type ImportedNames,
  type ImportFunction,
  type ImportPorts,
} from './import/imported.ts'
export { importKeycloak } from './import/keycloak.ts'
export { importOidcProvider } from './import/oidc-provider.ts'
