-- One row is one name that may be another name of a user, since only upper case and white space tell them apart, or since an address says so.
-- Nothing merges them but a person who knows.
-- Grain: (user_id, alias).
WITH
seen AS (
  SELECT DISTINCT
    user_id
  FROM coverage
  WHERE org_id = $org_id
    AND user_id <> 'unknown'
    -- Days that wait for their build still have names that are merged already.
    AND user_id NOT IN (SELECT alias FROM aliases WHERE org_id = $org_id)
  UNION
  SELECT
    user_id
  FROM people
  WHERE org_id = $org_id
),
spelled AS (
  SELECT
    seen.user_id AS user_id,
    replaced(lower_case(seen.user_id), '\s', '') AS spelling,
    CASE WHEN people.user_id IS NULL THEN 1 ELSE 0 END AS is_no_person
  FROM seen
  LEFT JOIN people
    ON people.org_id = $org_id
    AND people.user_id = seen.user_id
),
-- The people's addresses, and those that events tell.
addressed AS (
  SELECT
    user_id,
    lower_case(alias) AS address
  FROM aliases
  WHERE org_id = $org_id
    AND is_email
  UNION
  SELECT
    user_id,
    lower_case(user_email) AS address
  FROM user_emails
  WHERE org_id = $org_id
    AND user_email <> ''
  UNION
  SELECT
    user_id,
    lower_case(user_id) AS address
  FROM seen
  WHERE user_id LIKE '%_@_%'
),
alike AS (
  SELECT
    user_id,
    concat('spelling ', spelling) AS likeness,
    is_no_person
  FROM spelled
  UNION ALL
  SELECT
    spelled.user_id AS user_id,
    concat('address ', addressed.address) AS likeness,
    spelled.is_no_person AS is_no_person
  FROM addressed
  JOIN spelled
    ON spelled.user_id = addressed.user_id
),
-- A person comes before a name that is none, and a short name before an address.
placed AS (
  SELECT
    user_id,
    likeness,
    is_no_person,
    row_number() OVER (PARTITION BY likeness ORDER BY is_no_person, length(user_id), user_id) AS place
  FROM alike
)
SELECT
  CAST(first_name.user_id AS VARCHAR) AS user_id,
  CAST(other_name.user_id AS VARCHAR) AS alias,
  CAST(min(replaced(other_name.likeness, ' .*$', '')) AS VARCHAR) AS reason
FROM placed AS first_name
JOIN placed AS other_name
  ON other_name.likeness = first_name.likeness
WHERE first_name.place = 1
  AND other_name.place > 1
  AND other_name.user_id <> first_name.user_id
  AND other_name.is_no_person = 1
GROUP BY
  first_name.user_id,
  other_name.user_id
ORDER BY
  user_id,
  alias
LIMIT 1000
