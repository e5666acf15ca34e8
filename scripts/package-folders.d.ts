export const packageFolders: readonly string[]
