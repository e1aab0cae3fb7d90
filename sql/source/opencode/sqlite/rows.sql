-- One row is one message of the SQLite database of opencode or Kilo, as an export has it: {info, messages: [{info, parts}]}.
-- SQLite runs this. It takes out only what events.sql reads, so that what people wrote stays in the database. Of a shell command
-- that may commit or open a pull request, the output is there too.
-- Parameter: since, Unix milliseconds.
WITH
changed AS MATERIALIZED (
  SELECT id
  FROM message
  WHERE time_updated >= :since
  UNION
  SELECT message_id
  FROM part
  WHERE time_updated >= :since
),
-- Where the parts of these messages are: not every database has an index that says it.
part_place AS MATERIALIZED (
  SELECT
    message_id,
    rowid AS place,
    time_updated
  FROM part
  WHERE message_id IN (SELECT id FROM changed)
)
SELECT
  CASE
    WHEN json_valid(message.data)
      THEN json_object(
        'info', json_object(
          'id', message.session_id,
          'parentID', session.parent_id,
          'directory', session.directory,
          'version', session.version,
          'time', json_object('created', session.time_created)
        ),
        'messages', json_array(json_object(
          'info', json_object(
            'role', message.data -> '$.role',
            'time', message.data -> '$.time',
            'agent', message.data -> '$.agent',
            'mode', message.data -> '$.mode',
            'modelID', message.data -> '$.modelID',
            'path', message.data -> '$.path',
            'cost', message.data -> '$.cost',
            'tokens', message.data -> '$.tokens'
          ),
          'parts', (
            SELECT json_group_array(json_object(
              'type', part.data -> '$.type',
              'synthetic', part.data -> '$.synthetic',
              'ignored', part.data -> '$.ignored',
              'tool', part.data -> '$.tool',
              'callID', part.data -> '$.callID',
              'tokens', part.data -> '$.tokens',
              'state', json_object(
                'status', part.data -> '$.state.status',
                'time', part.data -> '$.state.time',
                'input', json_object(
                  'filePath', part.data -> '$.state.input.filePath',
                  'command', part.data -> '$.state.input.command',
                  'name', part.data -> '$.state.input.name'
                ),
                'output', CASE
                  WHEN part.data ->> '$.state.input.command' LIKE '%commit%'
                    OR part.data ->> '$.state.input.command' LIKE '%create%'
                    THEN part.data -> '$.state.output'
                END,
                'metadata', json_object(
                  'exit', part.data -> '$.state.metadata.exit',
                  'exists', part.data -> '$.state.metadata.exists',
                  'filediff', json_object(
                    'additions', part.data -> '$.state.metadata.filediff.additions',
                    'deletions', part.data -> '$.state.metadata.filediff.deletions'
                  ),
                  'files', (
                    SELECT json_group_array(json_object(
                      'filePath', file.value -> '$.filePath',
                      'movePath', file.value -> '$.movePath',
                      'type', file.value -> '$.type',
                      'additions', file.value -> '$.additions',
                      'deletions', file.value -> '$.deletions'
                    ))
                    FROM json_each(part.data, '$.state.metadata.files') AS file
                  )
                )
              )
            ))
            FROM part_place
            JOIN part
              ON part.rowid = part_place.place
            WHERE part_place.message_id = message.id
              AND json_valid(part.data)
              AND part.data ->> '$.type' IN ('text', 'file', 'tool', 'step-finish')
          )
        ))
      )
    ELSE 'damaged'
  END AS line,
  max(
    message.time_updated,
    coalesce((SELECT max(part_place.time_updated) FROM part_place WHERE part_place.message_id = message.id), 0)
  ) AS updated_at
FROM message
LEFT JOIN session
  ON session.id = message.session_id
WHERE message.id IN (SELECT id FROM changed)
