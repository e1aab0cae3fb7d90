/** The file of the database, in the data folder. */
export const DATABASE = 'daybook.duckdb';

/** The file in which batches are checked on their way to a database elsewhere. */
export const STAGING = 'staging.duckdb';

/** The folder of files that are restored, until all of them are in place: nobody opens the database while it is there. */
export const RESTORED = 'restored';
