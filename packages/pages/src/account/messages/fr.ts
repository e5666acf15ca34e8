import type { AccountMessages } from './messages.ts'

export const fr: AccountMessages = {
  accountTitle: 'Votre compte',
  back: 'Retour à votre compte',
  sessionsTitle: 'Où vous êtes connecté',
  thisDevice: 'Cet appareil',
  deviceName: '{browser} sur {system}',
  unknownDevice: 'Appareil inconnu',
  lastUsed: 'Dernière utilisation : {time}',
  endSession: 'Déconnecter',
  endSessionTitle: 'Déconnecter cet appareil ?',
  endSessionIntro: 'La prochaine fois, il faudra s’y connecter de nouveau.',
  endOthers: 'Déconnecter tous les autres appareils',
  endOthersTitle: 'Déconnecter tous les autres appareils ?',
  endOthersIntro: 'Seul cet appareil reste connecté.',
  applicationsTitle: 'Applications ayant accès',
  applicationsNone: 'Aucune application n’a accès à votre compte.',
  withdraw: 'Retirer l’accès',
  withdrawTitle: 'Retirer l’accès de {client} ?',
  withdrawIntro:
    'L’application ne pourra plus utiliser votre compte. La prochaine fois, elle devra vous demander votre accord.',
  sessionEnded: 'L’appareil est déconnecté.',
  sessionsEnded: 'Tous les autres appareils sont déconnectés.',
  accessWithdrawn: 'L’accès est retiré.',
  gone: 'Cela n’existe plus.',
}
